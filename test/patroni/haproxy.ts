import { chownSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Owner } from '../../tools/postgres/server.ts'
import { Daemon } from './daemon.ts'
import type { Place } from './place.ts'
import { replaceAll } from './replace.ts'
import { program } from './requirements.ts'

const CONFIGURATION = new URL('../../deploy/patroni/haproxy.cfg', import.meta.url)

/** HAProxy as deploy/patroni/haproxy.cfg configures it, at an address of its own. */
export function makeHaproxy(owner: Owner, { folder, user, hosts, proxy }: Place): Daemon {
  const file = join(folder, 'haproxy.cfg')
  const servers = hosts.map((host, index) => [` db${index + 1}:`, ` ${host}:`])
  // The test starts it as an unprivileged user, whose output goes to a file.
  const values = {
    '  user haproxy\n  group haproxy\n': '',
    'log /dev/log local0': 'log stderr format raw local0',
    '127.0.0.1:5000': `${proxy}:5000`,
    ...Object.fromEntries(servers),
  }
  writeFileSync(file, replaceAll(readFileSync(CONFIGURATION, 'utf8'), values))
  if (user !== undefined) chownSync(file, user.uid, user.gid)
  const line = [program('haproxy'), '-db', '-f', file]
  return new Daemon(owner, { line, user, log: join(folder, 'haproxy.log') })
}

/** Where everything of a cluster is: its folder, and an address of 127.0.0.0/8 for each machine. */
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Owner } from '../../tools/postgres/postgres-server.ts'
import { inMemory, makeFolder } from '../../tools/tap/temporary-folders.ts'
import { issue } from '../helpers/network/certificates.ts'
import type { User } from './daemon.ts'
import { serverUser } from './requirements.ts'

export interface Place {
  readonly folder: string
  readonly user: User | undefined
  /** The addresses of the three machines that have etcd and PostgreSQL. */
  readonly hosts: readonly string[]
  /** The address of HAProxy. */
  readonly proxy: string
  /** Whether the replicas connect to all servers instead of HAProxy. */
  readonly isDirect: boolean
  /** The password of all users. */
  readonly password: string
  /** Of the authority that issued the servers' certificates. */
  readonly caFile: string
}

/** The ports of deploy/patroni/. Only these addresses have to be free. */
const PORTS = [2379, 2380, 5000, 5432, 8008]

export interface PlaceOptions {
  readonly direct?: boolean
  /** Whether to leave the folder for inspection. */
  readonly keep?: boolean
}

export async function makePlace(
  owner: Owner,
  { direct: isDirect = false, keep = false }: PlaceOptions,
): Promise<Place> {
  const network = `127.${randomInt(1, 255)}.${randomInt(0, 255)}`
  const [proxy = '', ...hosts] = [10, 1, 2, 3].map((number) => `${network}.${number}`)
  for (const port of PORTS) await assertFree(proxy, port)
  const folder = makeFolder(keep ? { teardown: () => {} } : owner, inMemory())
  const user = serverUser()
  const authority = issue({ name: 'an authority for the test' })
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, authority.cert)
  for (const host of hosts) {
    const { cert, key } = issue({ name: host, hosts: [host], issuer: authority })
    const settings = join(folder, host)
    mkdirSync(settings)
    makePrivateFolder(settings, user)
    for (const [name, text] of Object.entries({
      'ca.pem': authority.cert,
      'server.crt': cert,
      'server.key': key,
    })) {
      const file = join(settings, name)
      writeFileSync(file, text, { mode: 0o600 })
      if (user !== undefined) chownSync(file, user.uid, user.gid)
    }
  }
  const password = randomBytes(12).toString('hex')
  return { folder, user, hosts, proxy, isDirect, password, caFile }
}

/** Gives a folder to a user, who alone can enter it. */
export function makePrivateFolder(folder: string, user: User | undefined): void {
  chmodSync(folder, 0o700)
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
}

/**
 * Replaces each name by its value.
 *
 * @throws Error if the text does not contain a name, which would leave the value of the documentation in force
 */
export function replaceAll(text: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((replaced, [name, value]) => {
    if (!replaced.includes(name)) throw new Error(`there is no ${name} to replace`)
    return replaced.replaceAll(name, value)
  }, text)
}

/** A server that listens at all addresses would take the port. */
async function assertFree(host: string, port: number): Promise<void> {
  const server = createServer().listen(port, host)
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}

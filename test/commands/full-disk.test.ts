import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { createPlant } from '../helpers/client.ts'
import { MAIN, withoutTap } from '../helpers/command.ts'

const TOKEN = 'a-token-of-the-environment'

/** Creates plants until one fails. Returns the ids of the acknowledged ones. */
async function createUntilFull(t: Test, url: string): Promise<number[]> {
  const acknowledged: number[] = []
  for (let id = 1; ; id++) {
    const { status, headers } = await createPlant(url, TOKEN, { id, name: 'x'.repeat(20_000) })
    if (status !== 200) {
      t.equal(status, 503)
      t.equal(headers['retry-after'], '5')
      return acknowledged
    }
    acknowledged.push(id)
  }
}

/** Fills the disk, asserts that the service recovers when there is room, and returns the acknowledged ids. */
async function assertRecovery(t: Test, url: string, makeRoom: () => void): Promise<number[]> {
  const acknowledged = await createUntilFull(t, url)
  t.ok(acknowledged.length > 0)
  const again = await createPlant(url, TOKEN, { id: 0, name: 'x'.repeat(20_000) })
  t.equal(again.status, 503)
  t.equal((await fetch(`${url}/health/live`)).status, 200)
  makeRoom()
  t.equal((await createPlant(url, TOKEN, { id: 0, name: 'x'.repeat(20_000) })).status, 200)
  return [0, ...acknowledged]
}

/** Asserts that the file has every acknowledged plant. A failed create may have been stored or not. */
function assertStored(t: Test, database: string, acknowledged: readonly number[]): void {
  const db = new Sqlite(database)
  const stored = db.prepare('SELECT id FROM plants WHERE length(name) = 20000').pluck().all()
  t.equal(db.pragma('integrity_check', { simple: true }), 'ok')
  db.close()
  const last = acknowledged.length
  t.same(
    stored.filter((id) => id !== last),
    acknowledged,
  )
}

const MOUNT = 'mount -t tmpfs -o size=1m none "$0" && cd "$0" && exec "$@"'
const noMounts =
  spawnSync('unshare', ['-rm', 'sh', '-c', MOUNT, t.testdir(), 'true']).status !== 0 &&
  'this user cannot mount file systems'

t.test(
  'no plant is lost when the disk is full, and writes resume when there is room',
  { skip: noMounts },
  async (t) => {
    const folder = t.testdir({ disk: {} })
    const disk = join(folder, 'disk')
    const args = [process.execPath, MAIN, '--port', '0', '--database', 'plants.db']
    const service = spawn(...withoutTap(['unshare', '-rm', 'sh', '-c', MOUNT, disk, ...args]), {
      env: { ...process.env, PLANT_STORE_TOKEN: TOKEN },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    t.teardown(() => service.kill('SIGKILL'))
    let url = ''
    for await (const line of createInterface(service.stdout)) {
      url ||= /listening on (\S+)/.exec(line)?.[1] ?? ''
      if (line.includes('curl ')) break
    }
    // The mount is visible only to the service, so it is accessed through its root.
    const inside = join('/proc', `${service.pid}`, 'root', disk)
    writeFileSync(join(inside, 'filler'), Buffer.alloc(600_000))
    const acknowledged = await assertRecovery(t, url, () => rmSync(join(inside, 'filler')))
    // The files must be complete even if the process is killed now.
    service.kill('SIGSTOP')
    for (const file of ['plants.db', 'plants.db-wal']) {
      copyFileSync(join(inside, file), join(folder, file))
    }
    t.ok(statSync(join(folder, 'plants.db-wal')).size > 0)
    assertStored(t, join(folder, 'plants.db'), acknowledged)
  },
)

import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { createPlant } from '../helpers/client.ts'
import { Command, MAIN, unmeasured } from '../helpers/command.ts'

const TOKEN = 'a-token-of-the-environment'

/** Creates plants until one fails. Resolves to the ids of the acknowledged ones. */
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

/** Checks that a service with a full disk still serves reads, and works again once there is space. */
async function recovers(t: Test, url: string, makeRoom: () => void): Promise<number[]> {
  const acknowledged = await createUntilFull(t, url)
  t.ok(acknowledged.length > 0)
  const again = await createPlant(url, TOKEN, { id: 0, name: 'x'.repeat(20_000) })
  t.equal(again.status, 503)
  t.equal((await fetch(`${url}/health/live`)).status, 200)
  makeRoom()
  t.equal((await createPlant(url, TOKEN, { id: 0, name: 'x'.repeat(20_000) })).status, 200)
  return [0, ...acknowledged]
}

/** Checks the ids in the file after the service has ended. A failed create may have been stored. */
function sameIds(t: Test, database: string, acknowledged: readonly number[]): void {
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

const noLimits = spawnSync('prlimit', ['--version']).error && 'prlimit of util-linux is missing'

t.test(
  'a service whose database cannot grow loses nothing, and recovers',
  { skip: noLimits ?? false },
  async (t) => {
    const database = join(t.testdir(), 'plants.db')
    const command = new Command(t, ['--port', '0', '--database', database], {
      env: { PLANT_STORE_TOKEN: TOKEN },
    })
    const url = await command.listening()
    const limit = (size: string) => {
      const { status } = spawnSync('prlimit', [
        '--pid',
        `${command.process.pid}`,
        `--fsize=${size}:`,
      ])
      t.equal(status, 0)
    }
    limit('200000')
    const acknowledged = await recovers(t, url, () => limit('unlimited'))
    command.process.kill('SIGTERM')
    t.equal((await command.finished()).code, 0)
    sameIds(t, database, acknowledged)
  },
)

const MOUNT = 'mount -t tmpfs -o size=1m none "$0" && cd "$0" && exec "$@"'
const noMounts =
  spawnSync('unshare', ['-rm', 'sh', '-c', MOUNT, t.testdir(), 'true']).status !== 0 &&
  'not permitted to mount a file system'

t.test('a service with a full disk loses nothing, and recovers', { skip: noMounts }, async (t) => {
  const folder = t.testdir({ disk: {} })
  const disk = join(folder, 'disk')
  const args = [process.execPath, MAIN, '--port', '0', '--database', 'plants.db']
  const service = spawn(...unmeasured(['unshare', '-rm', 'sh', '-c', MOUNT, disk, ...args]), {
    env: { ...process.env, PLANT_STORE_TOKEN: TOKEN },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.teardown(() => service.kill('SIGKILL'))
  let url = ''
  for await (const line of createInterface(service.stdout)) {
    url ||= /listens on (\S+)/.exec(line)?.[1] ?? ''
    if (line.includes('curl ')) break
  }
  // Only the service sees the mounted disk, so the test accesses it through /proc.
  const inside = join('/proc', `${service.pid}`, 'root', disk)
  writeFileSync(join(inside, 'filler'), Buffer.alloc(600_000))
  const acknowledged = await recovers(t, url, () => rmSync(join(inside, 'filler')))
  // The files as a crash would leave them must contain every acknowledged plant.
  service.kill('SIGSTOP')
  for (const file of ['plants.db', 'plants.db-wal']) {
    copyFileSync(join(inside, file), join(folder, file))
  }
  t.ok(statSync(join(folder, 'plants.db-wal')).size > 0)
  sameIds(t, join(folder, 'plants.db'), acknowledged)
})

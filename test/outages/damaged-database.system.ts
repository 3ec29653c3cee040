/** A database file that is damaged while the service runs. */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t from 'tap'
import { openDatabase } from '../../src/stores/sqlite/file/database.ts'
import { Command } from '../helpers/processes/command.ts'
import { until } from '../helpers/processes/until.ts'
import { createPlant, logged } from '../helpers/service/client.ts'

const DAMAGED = { error: 50302, message: 'the store is unavailable: its database is damaged' }

for (const threads of [1, 2]) {
  t.test(`with ${threads} threads, a damaged database takes no changes`, async (t) => {
    const folder = t.testdir()
    const database = join(folder, 'plants.db')
    const pages = makeDatabase(database)
    const args = ['--port=0', '--database', database, '--threads', `${threads}`]
    const command = new Command(t, args)
    const url = await command.listening()
    const token = readFileSync(join(folder, 'access-token'), 'utf8').trim()
    const get = async (path: string) => {
      // A new connection each time, so that each thread serves some.
      const headers = { authorization: `Bearer ${token}`, connection: 'close' }
      const response = await fetch(url + path, { headers })
      const json = await response.json()
      if (response.status !== 503) return response.status
      return { ...(json as object), retry: response.headers.get('retry-after') }
    }
    const create = async (id: number) => {
      const { status, body } = await createPlant(url, token, { id, name: 'Abies' })
      return status === 503 ? JSON.parse(body) : status
    }
    t.equal(await create(1000), 200)
    t.equal(await get('/health/ready'), 200)
    for (const page of pages) zero(database, page)
    t.same(await get('/plants/500'), { ...DAMAGED, retry: '60' })
    // Several threads share the result of a check for a moment.
    await until('the service is not ready', async () => (await get('/health/ready')) !== 200)
    for (let id = 1001; id < 1005; id++) {
      t.same(await create(id), DAMAGED)
      t.same(await get('/health/ready'), { ...DAMAGED, retry: '60' })
    }
    t.equal(await get('/health/live'), 200)
    t.equal(await get('/plants/1000'), 200, 'what is sound can be read')
    await logged(command, `${database} is damaged, so the service is not ready`)
    const lines = command.stderr.split('\n').filter((line) => line.includes('plant-store restore'))
    t.equal(lines.length, 1)
    command.process.kill('SIGTERM')
    t.equal((await command.finished()).code, 0)
  })
}

/** Creates a database with 999 plants. Returns the pages that contain only some of them, the last excluded. */
function makeDatabase(file: string): number[] {
  openDatabase({ file, lockTimeout: 0 }).close()
  const db = new Sqlite(file)
  const insert = db.prepare('INSERT INTO plants (id, name) VALUES (?, ?)')
  db.transaction(() => {
    for (let id = 1; id <= 999; id++) insert.run(id, 'x'.repeat(500))
  })()
  const pages = db
    .prepare<[], number>(
      "SELECT pageno FROM dbstat WHERE name = 'plants' AND pagetype = 'leaf' ORDER BY path",
    )
    .pluck()
    .all()
  db.close()
  return pages.slice(1, -1)
}

function zero(file: string, page: number): void {
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, Buffer.alloc(4096), 0, 4096, (page - 1) * 4096)
  closeSync(descriptor)
}

/** A database file that is deleted or replaced while the service runs. */
import { copyFileSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openDatabase } from '../../src/stores/sqlite/file/database.ts'
import { Command } from '../helpers/processes/command.ts'
import { createPlant, logged } from '../helpers/service/client.ts'

const REPLACED = {
  error: 50302,
  message: 'the store is temporarily unavailable: its database file was deleted or replaced',
}

async function start(t: Test, threads: number) {
  const folder = t.testdir()
  const [database, other] = ['plants.db', 'other.db'].map((name) => join(folder, name)) as [
    string,
    string,
  ]
  openDatabase({ file: other, lockTimeout: 0 }).close()
  const args = ['--port=0', '--database', database, '--threads', `${threads}`]
  const command = new Command(t, args)
  const url = await command.listening()
  const token = readFileSync(join(folder, 'access-token'), 'utf8').trim()
  const create = async (id: number) => {
    const { status, body } = await createPlant(url, token, { id, name: `plant ${id}` })
    return status === 503 ? JSON.parse(body) : status
  }
  const ready = async () => {
    const response = await fetch(`${url}/health/ready`)
    return response.status === 503 ? response.json() : response.status
  }
  const stop = async () => {
    command.process.kill('SIGTERM')
    return (await command.finished()).code
  }
  return { database, other, command, create, ready, stop }
}

for (const [threads, what] of [
  [1, 'replaced'],
  [2, 'deleted'],
] as const) {
  t.test(`with ${threads} threads, a database that is ${what} takes no changes`, async (t) => {
    const service = await start(t, threads)
    const { database, other, command, create, ready } = service
    t.equal(await create(1), 200)
    const saved = `${database}.saved`
    renameSync(database, saved)
    const before = readFileSync(other)
    if (what === 'replaced') copyFileSync(other, database)

    t.same(await create(2), REPLACED)
    t.same(await ready(), REPLACED)
    await logged(command, `${database} was deleted or replaced while it is open`)
    if (what === 'replaced') t.same(readFileSync(database), before, 'nothing is written to it')

    renameSync(saved, database)
    t.equal(await create(3), 200, 'it is back')
    t.equal(await ready(), 200)
    t.equal(await service.stop(), 0)
    const db = openDatabase({ file: database, lockTimeout: 0 })
    t.same(db.prepare('SELECT id FROM plants ORDER BY id').pluck().all(), [1n, 3n])
    db.close()
  })
}

t.test('an idle service writes its changes to the file, wherever it was moved', async (t) => {
  const { database, other, command, create, stop } = await start(t, 1)
  t.equal(await create(1), 200)
  const moved = `${database}.moved`
  renameSync(database, moved)
  renameSync(other, database)
  const before = readFileSync(database)
  await logged(command, 'was deleted or replaced while it is open')
  t.equal(await stop(), 0)
  t.same(readFileSync(database), before)
  const lines = command.stderr.split('\n').filter((line) => line.includes('was deleted or'))
  t.equal(lines.length, 1, 'once a minute')
  for (const [file, plants] of [
    [database, 0n],
    [moved, 1n],
  ] as const) {
    const db = openDatabase({ file, lockTimeout: 0 })
    t.equal(db.prepare('SELECT count(*) FROM plants').pluck().get(), plants, file)
    db.close()
  }
})

t.test('changes of another process to the file that replaced it are kept', async (t) => {
  const { database, other, create, stop } = await start(t, 1)
  const idsIn = (file: string) => {
    const db = openDatabase({ file, lockTimeout: 0 })
    const ids = db.prepare('SELECT id FROM plants ORDER BY id').pluck().all()
    db.close()
    return ids
  }
  const moved = `${database}.moved`
  // A request is served after the check that follows the one before it.
  const checked = async () => {
    for (const id of [100, 101]) t.same(await create(id), REPLACED)
  }
  const walSize = () => statSync(`${database}-wal`).size
  t.equal(await create(1), 200)
  renameSync(database, moved)
  await checked()
  t.equal(walSize(), 0)

  renameSync(moved, database)
  const reader = openDatabase({ file: database, lockTimeout: 0 })
  reader.exec('BEGIN; SELECT * FROM plants')
  t.equal(await create(2), 200)
  renameSync(database, moved)
  await checked()
  t.ok(walSize() > 0, 'a snapshot prevents it')
  reader.close()
  await checked()
  t.equal(walSize(), 0, 'emptied again after another loss')

  renameSync(other, database)
  const db = openDatabase({ file: database, lockTimeout: 0 })
  db.exec("INSERT INTO plants (id, name) VALUES (7, 'seven')")
  await checked()
  t.equal(await stop(), 0)
  db.close()
  t.same(idsIn(database), [7n])
  t.same(idsIn(moved), [1n, 2n])
})

import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { createPlant } from '../helpers/client.ts'
import { Command } from '../helpers/command.ts'

const TOKEN = 'a-token-of-the-environment'

/** A running service, and another connection that takes and gives back the lock of its database. */
async function lockable(t: Test, ...args: string[]) {
  const database = join(t.testdir(), 'plants.db')
  const command = new Command(t, ['--port', '0', '--database', database, ...args], {
    measured: false,
    env: { PLANT_STORE_TOKEN: TOKEN },
  })
  const url = await command.listening()
  const holder = new Sqlite(database)
  t.teardown(() => holder.close())
  const create = (id: number) => createPlant(url, TOKEN, { id, name: 'Abies alba Mill.' })
  const live = async () => (await fetch(`${url}/health/live`)).status
  return { command, holder, create, live }
}

t.test('while another process holds the database, creates wait, but not for ever', async (t) => {
  const { holder, create, live } = await lockable(t, '--lock-timeout', '500ms')
  holder.exec('BEGIN IMMEDIATE')
  const begun = performance.now()
  const refused = create(1).then((answer) => ({ ...answer, after: performance.now() - begun }))
  t.equal(await live(), 200, 'other requests are answered')
  const answered = performance.now() - begun
  const { status, headers, after } = await refused
  t.equal(status, 503)
  t.equal(headers['retry-after'], '1')
  t.ok(after >= 500 && after < 5000, `after ${after} ms`)
  t.ok(answered < after, 'while the create waits')

  holder.exec('ROLLBACK')
  t.equal((await create(1)).status, 200, 'as soon as the database is free')
})

t.test('a create that waits goes on when the database is free', async (t) => {
  const { holder, create, live } = await lockable(t, '--lock-timeout', '1m')
  holder.exec('BEGIN IMMEDIATE')
  const waiting = [create(1), create(2)]
  await live()
  holder.exec('COMMIT')
  for (const { status } of await Promise.all(waiting)) t.equal(status, 200)
})

t.test('a start while another process holds the database fails in a line', async (t) => {
  const { holder } = await lockable(t)
  holder.exec('BEGIN IMMEDIATE')
  const args = ['--port=0', '--lock-timeout=100ms', '--database', holder.name]
  const { code, stderr } = await new Command(t, args, { measured: false }).finished()
  t.equal(code, 1)
  t.match(stderr, /^plant-store: .*(busy|another process holds it).*\n$/)
})

import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { runHere } from '../helpers/command-here.ts'
import { startService } from '../helpers/service.ts'

/** Starts a service and opens another connection that can lock its database. */
async function lockable(t: Test, lockTimeout: number) {
  let close = () => {}
  t.teardown(() => close())
  const service = await startService(t, { inFile: true, config: { lockTimeout } })
  const holder = new Sqlite(service.database)
  close = () => holder.close()
  const create = (id: number) => service.call({ body: { id, name: 'Abies alba Mill.' } })
  const live = async () => (await service.call({ method: 'GET', path: '/health/live' })).status
  return { holder, create, live }
}

t.test('creates wait for a locked database until the lock timeout', async (t) => {
  const { holder, create } = await lockable(t, 100)
  holder.exec('BEGIN IMMEDIATE')
  const begun = performance.now()
  const { status, headers } = await create(1)
  t.equal(status, 503)
  t.equal(headers['retry-after'], '1')
  t.ok(performance.now() - begun >= 100)

  holder.exec('ROLLBACK')
  t.equal((await create(1)).status, 200, 'once the database is unlocked')
})

t.test('a waiting create continues when the database is unlocked', async (t) => {
  const { holder, create, live } = await lockable(t, 60_000)
  holder.exec('BEGIN IMMEDIATE')
  const waiting = [create(1), create(2)]
  t.equal(await live(), 200, 'other requests are answered meanwhile')
  holder.exec('COMMIT')
  for (const { status } of await Promise.all(waiting)) t.equal(status, 200)
})

t.test('a locked database stops the first start with a one-line error', async (t) => {
  const { holder } = await lockable(t, 60_000)
  holder.exec('DELETE FROM tokens; BEGIN IMMEDIATE')
  const args = ['--port=0', '--lock-timeout=100ms', '--database', holder.name]
  const { code, stderr } = await runHere(args)
  t.equal(code, 1)
  t.match(stderr, /^plant-store: .*(busy|another process has locked it).*\n$/)
})

/** Mirrors between the engines. */
import t from 'tap'
import { postgres, sqlite } from '../helpers/engine.ts'
import { startOn, startService } from '../helpers/service.ts'
import { change, fill, plantsOf, TestMirror } from './mirrored.ts'

t.teardown(() => startOn(sqlite))

const engines = { SQLite: sqlite, PostgreSQL: await postgres() }

for (const [from, to] of [
  ['SQLite', 'PostgreSQL'],
  ['PostgreSQL', 'SQLite'],
  ['PostgreSQL', 'PostgreSQL'],
] as const) {
  t.test(`a mirror from ${from} to ${to}`, async (t) => {
    startOn(engines[from])
    const service = await startService(t)
    await fill(service.store, 1500)
    const copy = await TestMirror.open(t, service, engines[to])
    const isEqual = async () =>
      t.strictSame(await plantsOf(copy.store), await plantsOf(service.store))
    await copy.run()
    await isEqual()
    const { ended, stop } = copy.follow()
    for (let round = 0; round < 20; round++) await change(service.store, round)
    await copy.catchesUp(service)
    await stop()
    await isEqual()
    await fill(service.store, 1000, 'Acer')
    await copy.run({ restart: true })
    await isEqual()
    await ended
  })
}

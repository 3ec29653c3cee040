/** The short form of `npm run test:attacks`: all attacks at once, at a small scale. */
import { join } from 'node:path'
import t from 'tap'
import { attacks } from './attacks/all.ts'
import { launch } from './attacks/launch.ts'
import { MEMORY_MAX } from './bound.ts'
import { Monitor } from './monitor.ts'
import { makeStock } from './plants.ts'
import { Target } from './target.ts'
import { missingFrom, Witness } from './witness.ts'

/** 1 is the size at which the problems were found; `npm run test:attacks` uses 10. */
const SCALE = 0.05

const STOCK = { plants: 2000, large: 1000 }

const STOP_MS = 60_000

t.test('a service under attack serves others and loses nothing', async (t) => {
  const database = join(t.testdir(), 'plants.db')
  await makeStock(t, database, STOCK)
  const target = await Target.start(t, database, ['--shutdown-timeout=500ms'])
  const monitor = new Monitor(target)
  const witness = new Witness(target.port)
  const names = attacks.map(({ name }) => name)
  const running = launch(names, target.port, SCALE)
  t.teardown(() => running.end())
  await running.done
  t.comment({ statuses: running.outcome.statuses })
  t.same(running.outcome.faults, [], 'the attackers got only documented responses')
  t.ok(await witness.answered(), 'the process is alive')
  await witness.stop()
  monitor.stop()
  t.same(Object.keys(witness.health), ['200'], 'every health check got 200')
  t.same(witness.faults, [], 'every create got a documented response')
  t.same(target.loggedErrors(), [])
  t.ok(monitor.memory <= MEMORY_MAX, `${monitor.memory} MiB`)
  t.equal((await target.stop(STOP_MS)).end, 0, 'it stops while the attackers are still connected')
  t.ok(witness.acknowledged.size > 0)
  t.same(missingFrom(database, witness.acknowledged), [])
})

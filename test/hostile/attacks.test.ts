/** The short form of `npm run test:attacks`: all attacks at once, at a small scale. */
import { join } from 'node:path'
import t from 'tap'
import { startIssuer } from '../helpers/issuer.ts'
import { runs } from '../helpers/runs.ts'
import { attacks } from './attacks/all.ts'
import { launch } from './attacks/launch.ts'
import { makeStock, Trial } from './trial.ts'

/** 1 is the size at which the problems were found; `npm run test:attacks` uses 10. */
const SCALE = runs(50) / 1000

t.test('a service under attack serves others and loses nothing', async (t) => {
  const database = join(t.testdir(), 'plants.db')
  await makeStock(t, database, 2000, 1000)
  const { args } = await startIssuer(t)
  const trial = await Trial.start(t, database, ['--shutdown-timeout=500ms', ...args])
  const names = attacks.map(({ name }) => name)
  const running = launch(t, names, trial.target.port, SCALE)
  await running.done
  const { problems, summary } = await trial.end(running.outcome.faults)
  t.comment(running.outcome.statuses, summary)
  t.same(problems, [], 'it responds as documented, stops while attacked, and nothing is lost')
  const { health, newConnections } = trial.witness.probes
  t.same(Object.keys(health.statuses), ['200'], 'every health check got 200')
  t.same(Object.keys(newConnections.statuses), ['200'], 'also on new connections')
  t.ok(trial.witness.acknowledged.size > 0)
})

/** The short form of `npm run test:hostile`, then that of `npm run test:attacks`, with all attacks at once. */
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { startIssuer } from '../helpers/network/issuer.ts'
import { WITH_FIELDS } from '../helpers/plants/nursery.ts'
import { runs } from '../helpers/plants/runs.ts'
import { attacks } from './attacks/all.ts'
import { launch } from './attacks/launch.ts'
import { runCampaign } from './fuzz/campaign.ts'
import { planOf } from './fuzz/plan.ts'
import { makeStock, Trial } from './trial.ts'

/** One campaign is the same in every run; the other is new each time. */
const CAMPAIGNS = [
  { seed: 1, requests: runs(1500) },
  { seed: randomInt(2 ** 31), requests: runs(500) },
]

/** 1 is the size at which the problems were found; `npm run test:attacks` uses 10. */
const SCALE = runs(50) / 1000

t.test(
  'a service serves others and loses nothing under mutated requests and attacks',
  async (t) => {
    const database = join(t.testdir(), 'plants.db')
    await makeStock(database, runs(2000), runs(1000))
    const { args: issuer } = await startIssuer(t)
    const args = ['--request-timeout=2s', '--shutdown-timeout=500ms', ...WITH_FIELDS, ...issuer]
    const trial = await Trial.start(t, database, args)
    const kept = new Map<bigint, string>()
    for (const options of CAMPAIGNS) {
      const report = await runCampaign(trial.target, { ...options, concurrency: 32 })
      const { faults, ...counts } = report
      t.comment({ ...options, ...counts, kept: report.kept.size })
      t.same(faults, [], `seed ${options.seed}`)
      t.ok(report.kept.size > 0)
      for (const [id, name] of report.kept) kept.set(id, name)
    }
    const names = attacks.map(({ name }) => name)
    const running = launch(t, names, trial.target.port, SCALE)
    await running.done
    const { problems, summary } = await trial.end(running.outcome.faults, kept)
    t.comment(running.outcome.statuses, summary)
    t.same(problems, [], 'it responds as documented, stops while attacked, and nothing is lost')
    const { health, newConnections } = trial.witness.probes
    t.same(Object.keys(health.statuses), ['200'], 'every health check got 200')
    t.same(Object.keys(newConnections.statuses), ['200'], 'also on new connections')
    t.ok(trial.witness.acknowledged.size > 0)
  },
)

t.test('a seed and a number reproduce a connection', async (t) => {
  const numbers = Array.from({ length: 50 }, (_, number) => number)
  const plans = (seed: number) => numbers.map((number) => planOf(seed, number))
  t.same(plans(7), plans(7))
  const bytes = (seed: number, number: number) =>
    planOf(seed, number).requests.map((request) => request.bytes)
  t.notSame(bytes(7, 1), bytes(7, 2))
  t.notSame(bytes(7, 1), bytes(8, 1))
})

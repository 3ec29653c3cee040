/** The short form of `npm run test:hostile`. */
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { WITH_FIELDS } from '../helpers/nursery.ts'
import { runs } from '../helpers/runs.ts'
import { runCampaign } from './fuzz/campaign.ts'
import { planOf } from './fuzz/plan.ts'
import { Trial } from './trial.ts'

/** One campaign is the same in every run; the other is new each time. */
const CAMPAIGNS = [
  { seed: 1, requests: runs(1500) },
  { seed: randomInt(2 ** 31), requests: runs(500) },
]

t.test('mutated requests get documented responses and do no harm', async (t) => {
  const database = join(t.testdir(), 'plants.db')
  const trial = await Trial.start(t, database, ['--request-timeout=2s', ...WITH_FIELDS])
  const kept = new Map<bigint, string>()
  for (const options of CAMPAIGNS) {
    const report = await runCampaign(trial.target, { ...options, concurrency: 32 })
    const { faults, ...counts } = report
    t.comment({ ...options, ...counts, kept: report.kept.size })
    t.same(faults, [], `seed ${options.seed}`)
    t.ok(report.kept.size > 0)
    for (const [id, name] of report.kept) kept.set(id, name)
  }
  const { problems, summary } = await trial.end([], kept)
  t.comment(summary)
  t.same(problems, [], 'it responds as documented, stops, and nothing is lost')
  const { health, newConnections } = trial.witness.probes
  t.same(Object.keys(health.statuses), ['200'], 'every health check got 200')
  t.same(Object.keys(newConnections.statuses), ['200'], 'also on new connections')
  t.ok(trial.witness.acknowledged.size > 0)
})

t.test('a seed and a number reproduce a connection', async (t) => {
  const numbers = Array.from({ length: 50 }, (_, number) => number)
  const plans = (seed: number) => numbers.map((number) => planOf(seed, number))
  t.same(plans(7), plans(7))
  const bytes = (seed: number, number: number) =>
    planOf(seed, number).requests.map((request) => request.bytes)
  t.notSame(bytes(7, 1), bytes(7, 2))
  t.notSame(bytes(7, 1), bytes(8, 1))
})

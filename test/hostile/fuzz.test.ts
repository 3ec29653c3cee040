/** The short form of `npm run test:hostile`. */
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { MEMORY_MAX } from './bound.ts'
import { runCampaign } from './fuzz/campaign.ts'
import { describeFindings } from './fuzz/findings.ts'
import { planOf } from './fuzz/plan.ts'
import { Judge } from './judge.ts'
import { Monitor } from './monitor.ts'
import { Target } from './target.ts'
import { missingFrom, Witness } from './witness.ts'

/** One campaign is the same in every run; the other is new each time. */
const CAMPAIGNS = [
  { seed: 1, requests: 2500 },
  { seed: randomInt(2 ** 31), requests: 1000 },
]

const STOP_MS = 60_000

t.test('mutated requests get documented responses and do no harm', async (t) => {
  const database = join(t.testdir(), 'plants.db')
  const target = await Target.start(t, database, ['--request-timeout=2s'])
  const monitor = new Monitor(target)
  const witness = new Witness(target.port)
  const judge = await Judge.make(target.port)
  const kept = new Map<bigint, string>()
  for (const [index, { seed, requests }] of CAMPAIGNS.entries()) {
    const first = index * requests
    const options = { port: target.port, seed, requests, first, step: 1, concurrency: 32 }
    const report = await runCampaign(options, judge)
    const { connections, statuses } = report
    t.comment({ seed, connections, mutated: report.mutated, statuses })
    for (const finding of describeFindings(report.findings, seed)) t.comment(finding)
    t.equal(report.findings.length, 0, `seed ${seed}`)
    for (const [id, name] of report.kept) kept.set(id, name)
  }
  t.ok(await witness.answered(), 'the process is alive')
  await witness.stop()
  monitor.stop()
  t.same(Object.keys(witness.health), ['200'], 'every health check got 200')
  t.same(witness.faults, [])
  t.same(target.loggedErrors(), [])
  t.ok(monitor.memory <= MEMORY_MAX, `${monitor.memory} MiB`)
  t.equal((await target.stop(STOP_MS)).end, 0)
  t.ok(witness.acknowledged.size > 0 && kept.size > 0)
  t.same(missingFrom(database, new Map([...witness.acknowledged, ...kept])), [])
})

t.test('a seed and a number reproduce a connection', async (t) => {
  const numbers = Array.from({ length: 50 }, (_, number) => number)
  const plans = (seed: number) => numbers.map((number) => planOf(seed, number))
  t.same(plans(7), plans(7))
  const bytes = (seed: number, number: number) =>
    Buffer.concat(planOf(seed, number).requests.map((request) => request.bytes))
  t.notSame(bytes(7, 1), bytes(7, 2))
  t.notSame(bytes(7, 1), bytes(8, 1))
})

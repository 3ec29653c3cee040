/**
 * Each disaster for a short time, with the webhook if it survives, and `kill` with a mirror on each engine too.
 * `npm run test:consistency` runs them for minutes, and what these contain: `none`, `threads` and `server-crash`.
 */
import t from 'tap'
import { runs } from '../helpers/plants/runs.ts'
import { CONSUMERS } from './consumers/consumers.ts'
import { DISASTERS } from './disasters/disasters.ts'
import { kill } from './disasters/kill.ts'
import { none } from './disasters/none.ts'
import { asynchronousFailover } from './disasters/postgres/failover.ts'
import { serverCrash } from './disasters/postgres/server-crash.ts'
import { threads } from './disasters/threads.ts'
import { formatReport } from './report.ts'
import { newSeed, run } from './run.ts'

/** Every disaster happens at least once, however long that takes. */
const SECONDS = runs(5)

const contained = new Set([none, threads, serverCrash])

// They wait more than they compute.
t.jobs = 2

for (const disaster of DISASTERS.filter((each) => !contained.has(each))) {
  const skip = disaster.missing?.() ?? false
  const options = { skip, buffered: true }
  t.test(`contending clients see a consistent store: ${disaster.name}`, options, async (t) => {
    const consumers = disaster === kill ? Object.keys(CONSUMERS) : ['webhook']
    const report = await run(disaster, { owner: t, seed: newSeed(), seconds: SECONDS, consumers })
    t.comment(formatReport(report))
    t.same(report.violations, [])
    t.ok(report.harms > 0)
  })
}

t.test(
  'the judges see what a failover without synchronous replication loses',
  { buffered: true },
  async (t) => {
    let violations = ''
    // On a busy machine, a failover can lose only what nobody reads afterwards.
    for (let attempt = 0; attempt < 3 && !/not linearizable/.test(violations); attempt++) {
      const options = { owner: t, seed: newSeed(), seconds: runs(20) }
      const report = await run(asynchronousFailover, options)
      t.ok(report.harms > 0)
      violations = report.violations.join('\n')
    }
    t.match(violations, /not linearizable/)
  },
)

/**
 * Disasters of replicas on PostgreSQL for a short time; of the two crashes of a server, the one with own fields. `npm run
 * test:consistency` runs them for minutes.
 */
import t from 'tap'
import { ON_POSTGRES } from './disasters/disasters.ts'
import { asynchronousFailover } from './disasters/postgres/failover.ts'
import { serverCrash } from './disasters/postgres/server-crash.ts'
import { formatReport } from './report.ts'
import { newSeed, run } from './run.ts'

const SECONDS = 3

for (const disaster of ON_POSTGRES.filter((each) => each !== serverCrash)) {
  t.test(`contending clients see a consistent store: ${disaster.name}`, async (t) => {
    const report = await run(disaster, { owner: t, seed: newSeed(), seconds: SECONDS })
    t.comment(formatReport(report))
    t.same(report.violations, [])
    t.ok(report.harms > 0)
  })
}

t.test('the judges see what a failover without synchronous replication loses', async (t) => {
  const report = await run(asynchronousFailover, {
    owner: t,
    seed: newSeed(),
    seconds: 2 * SECONDS,
  })
  t.ok(report.harms > 0)
  t.match(report.violations.join('\n'), /not linearizable/)
})

/** A killed service with a mirror on each engine and a webhook, which fail too. */
import t from 'tap'
import { kill } from './disasters/kill.ts'
import { formatReport } from './report.ts'
import { newSeed, run } from './run.ts'

const SECONDS = 4

for (const mirror of ['sqlite-mirror', 'postgres-mirror']) {
  t.test(`kills lose nothing of a ${mirror} and a webhook`, async (t) => {
    const consumers = [mirror, 'webhook']
    const report = await run(kill, { owner: t, seed: newSeed(), seconds: SECONDS, consumers })
    t.comment(formatReport(report))
    t.same(report.violations, [])
  })
}

/** Short runs. `npm run test:consistency` runs for minutes, and judges more disasters. */
import t from 'tap'
import { kill } from './disasters/kill.ts'
import { threads } from './disasters/threads.ts'
import { formatReport } from './report.ts'
import { newSeed, run } from './run.ts'

for (const { disaster, seconds } of [
  { disaster: threads, seconds: 2 },
  { disaster: kill, seconds: 5 },
]) {
  t.test(`contending clients see a consistent store: ${disaster.name}`, async (t) => {
    const report = await run(disaster, { owner: t, seed: newSeed(), seconds })
    t.comment(formatReport(report))
    t.same(report.violations, [])
  })
}

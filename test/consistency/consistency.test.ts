/** A short run. `npm run test:system` runs more disasters, and `npm run test:consistency` runs them for minutes. */
import t from 'tap'
import { runs } from '../helpers/plants/runs.ts'
import { kill } from './disasters/kill.ts'
import { formatReport } from './report.ts'
import { newSeed, run } from './run.ts'

t.test('contending clients see a consistent store: kill', async (t) => {
  const report = await run(kill, { owner: t, seed: newSeed(), seconds: runs(5) })
  t.comment(formatReport(report))
  t.same(report.violations, [])
})

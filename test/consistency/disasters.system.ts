/**
 * Disasters of a service on SQLite for a short time, with a webhook if it survives them. consumers.system.ts adds `kill`,
 * with one HTTP thread and with several, and so what happens without a disaster.
 * `npm run test:consistency` runs them for minutes.
 */
import t from 'tap'
import { ON_SQLITE } from './disasters/disasters.ts'
import { kill } from './disasters/kill.ts'
import { none } from './disasters/none.ts'
import { threads } from './disasters/threads.ts'
import { formatReport } from './report.ts'
import { newSeed, run } from './run.ts'

const SECONDS = 2

const elsewhere = new Set([none, threads, kill])

for (const disaster of ON_SQLITE.filter((each) => !elsewhere.has(each))) {
  const skip = disaster.missing?.() ?? false
  t.test(`contending clients see a consistent store: ${disaster.name}`, { skip }, async (t) => {
    const consumers = ['webhook']
    const report = await run(disaster, { owner: t, seed: newSeed(), seconds: SECONDS, consumers })
    t.comment(formatReport(report))
    t.same(report.violations, [])
  })
}

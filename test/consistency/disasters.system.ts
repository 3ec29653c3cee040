/**
 * Disasters of one service for a short time, with a webhook if it survives them. `npm run test:consistency` runs them for
 * minutes.
 */
import t from 'tap'
import { fullDisk } from './disasters/full-disk.ts'
import { kill } from './disasters/kill.ts'
import { lock } from './disasters/lock.ts'
import { none } from './disasters/none.ts'
import { restore } from './disasters/restore.ts'
import { threads } from './disasters/threads.ts'
import { formatReport } from './report.ts'
import { newSeed, run } from './run.ts'

const SECONDS = 6

for (const disaster of [none, threads, kill, lock, fullDisk, restore]) {
  const skip = disaster.missing?.() ?? false
  t.test(`contending clients see a consistent store: ${disaster.name}`, { skip }, async (t) => {
    const consumers = ['webhook']
    const report = await run(disaster, { owner: t, seed: newSeed(), seconds: SECONDS, consumers })
    t.comment(formatReport(report))
    t.same(report.violations, [])
  })
}

/** Another database takes the place of the first one: a mirror that is promoted, or the target of a move. */
import t from 'tap'
import { move } from './disasters/move.ts'
import { promote } from './disasters/promote.ts'
import { formatReport } from './report.ts'
import { newSeed, run } from './run.ts'

for (const { disaster, what } of [
  { disaster: promote, what: 'a promoted mirror has all changes up to its position' },
  { disaster: move, what: 'a move to the other engine loses no change and repeats no event' },
]) {
  t.test(what, async (t) => {
    const consumers = ['webhook']
    const report = await run(disaster, { owner: t, seed: newSeed(), seconds: 4, consumers })
    t.comment(formatReport(report))
    t.same(report.violations, [])
  })
}

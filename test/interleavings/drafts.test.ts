import { equal } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { runs } from '../helpers/plants/runs.ts'
import { type Action, Page } from './page-model.ts'
import type { Change, Delay } from './page-service.ts'
import { underSchedules } from './schedules.ts'

/** Often the same, so that the person and others change the same plant. The last one is that of the plant to add. */
const id = fc.constantFrom(1n, 1n, 1n, 2n, 3n)

/** What a person does in a row, unless the schedule puts something else in between. */
const HABITS: readonly Action['kind'][][] = [
  ['edit', 'type', 'send'],
  ['edit', 'type', 'send', 'send', 'close'],
  ['edit', 'type', 'close'],
  ['edit', 'typeTag', 'send'],
  ['edit', 'typeTag', 'type', 'send'],
  ['add', 'type', 'send'],
  ['continue', 'type'],
  ['delete'],
  ['send'],
  ['sendAll'],
  ['sendAll', 'continue', 'type'],
  ['edit', 'type', 'send', 'resume'],
  ['resume'],
  ['keepMine'],
  ['keepStored'],
  ['keepEditing', 'type'],
  ['discard'],
  ['reload'],
]

const change = fc.constantFrom<Change[]>('name', 'tag', 'plant', 'removal')

const habits = fc.record({ id, kinds: fc.constantFrom(...HABITS) })

const scenarios = fc.record({
  habits: fc.array(habits, { minLength: 1, maxLength: 12, size: 'max' }),
  /** Changes by others. */
  changes: fc.array(fc.record({ id, change }), {
    maxLength: 8,
    size: 'max',
  }),
  delays: fc.array(fc.constantFrom<Delay[]>('none', 'request lost', 'response lost'), {
    maxLength: 10,
    size: 'max',
  }),
})

t.test(
  'no edit is lost, only what both have changed asks, no unseen change is saved over, and the last action decides',
  () =>
    underSchedules(
      scenarios,
      async (schedule, { habits, changes, delays }) => {
        const page = new Page(schedule, delays)
        const act = async () => {
          for (const { kinds, id } of habits) {
            for (const kind of kinds) {
              await schedule.step(`${kind} ${id}`)
              page.act(kind, id)
            }
          }
        }
        const change = async () => {
          for (const { id, change } of changes) {
            await schedule.step(`somebody else: ${change} ${id}`)
            page.service.changeByOthers(id, change)
          }
        }
        act()
        change()
        await schedule.finish()
        // The person goes on until nothing is left to do.
        for (let round = 0; page.drafts.unsaved.length > 0 && round < 20; round++) {
          page.resolveAll()
          await schedule.finish()
        }
        equal(page.drafts.unsaved.length, 0, 'everything can be saved')
        page.checkEnd()
      },
      { numRuns: runs(400) },
    ),
)

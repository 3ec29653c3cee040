import fc from 'fast-check'
import t from 'tap'
import type { Change } from '../../service/store/change-feed.ts'
import { Model, type Outcome } from './dispatcher-model.ts'
import { type End, Processes } from './dispatcher-process.ts'
import { underSchedules } from './schedules.ts'

const outcomes = fc.constantFrom<Outcome[]>('received', 'received', 'failed', 'lost', 'bug')

const scenarios = fc.record({
  changes: fc.array(
    fc.record({
      id: fc.bigInt({ min: 1n, max: 3n }),
      type: fc.constantFrom<Change['type'][]>('created', 'changed', 'removed'),
    }),
    { minLength: 1, maxLength: 10 },
  ),
  outcomes: fc.array(outcomes, { maxLength: 15 }),
  /** Whether each read of the feed succeeds. */
  reads: fc.array(fc.boolean(), { maxLength: 10 }),
  ends: fc.array(fc.constantFrom<End[]>('stopped', 'lost lease', 'killed'), { maxLength: 4 }),
  saves: fc.nat({ max: 6 }),
  isFromOldest: fc.boolean(),
})

t.test(
  'each change is delivered at least once, in the order of its plant, by the process with the lease, and progress follows',
  (t) => {
    // So that a replay has the same delays.
    t.intercept(Math, 'random', { value: () => 0.5 })
    return underSchedules(scenarios, async (schedule, { changes, ends, saves, ...faults }) => {
      const model = new Model(schedule, faults)
      const processes = new Processes(model)
      for (const { id, type } of changes) {
        schedule.step('change').then(() => model.add(id, type))
      }
      for (let each = 0; each < saves; each++) schedule.step('save').then(() => processes.save())
      processes.deliver(ends)
      await schedule.finish()
      await processes.finish()
    })
  },
)

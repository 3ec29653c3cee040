import { deepEqual, equal } from 'node:assert/strict'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { FakeClock, Model, type Outcome, Process } from './mirror-model.ts'
import { underSchedules } from './schedules.ts'

const TICKS_MAX = 100

/** How a process ends. A commit of one that is killed can still take effect. */
type End = 'aborted' | 'killed'

const writes = fc.array(
  fc.record({ id: fc.bigInt({ min: 1n, max: 5n }), isRemoval: fc.boolean() }),
  {
    maxLength: 12,
  },
)

const scenarios = fc.record({
  earlier: writes,
  writes,
  outcomes: fc.array(fc.constantFrom<Outcome[]>('done', 'done', 'failed', 'lost'), {
    maxLength: 30,
  }),
  ticks: fc.nat({ max: 8 }),
  runs: fc.array(
    fc.record({
      end: fc.constantFrom<End[]>('aborted', 'killed'),
      restart: fc.boolean(),
    }),
    { maxLength: 4 },
  ),
})

t.test(
  'whatever fails or is cut, a mirror is a prefix of its source at its saved position, and ends cleanly',
  (t) => {
    const clock = new FakeClock(t as Test)
    return underSchedules(scenarios, async (schedule, { earlier, writes, ticks, ...rest }) => {
      clock.start()
      try {
        const model = new Model(schedule, rest.outcomes)
        for (const write of earlier) model.write(write)
        for (const write of writes) schedule.step('write').then(() => model.write(write))
        for (let each = 0; each < ticks; each++) schedule.step('time').then(() => clock.tick())
        let isDone = false
        const runs = runAll(model, rest.runs).finally(() => {
          isDone = true
        })
        runs.catch(() => {})
        for (let tick = 0; !isDone && tick < TICKS_MAX; tick++) {
          clock.tick()
          await schedule.finish()
        }
        equal(isDone, true, 'the mirror catches up')
        await runs
        deepEqual(model.mirrored(), model.plantsAt(model.feed.length))
      } finally {
        clock.stop()
      }
    })
  },
)

/** Runs a mirror again and again, and at last until it has caught up with all changes. */
async function runAll(
  model: Model,
  runs: readonly { readonly end: End; readonly restart: boolean }[],
): Promise<void> {
  for (const { end, restart } of runs) {
    const process = new Process(model, { restart })
    await Promise.race([model.schedule.step(end), process.ended])
    if (end === 'killed') process.kill()
    else await process.abort()
  }
  while (model.position !== model.feed.length || !model.isConsistent) {
    await new Process(model, { once: true }).ended
  }
}

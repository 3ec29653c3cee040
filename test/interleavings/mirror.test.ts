import { deepEqual, equal } from 'node:assert/strict'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { FakeClock, Model, type Outcome } from './mirror-model.ts'
import { Process } from './mirror-process.ts'
import { underSchedules } from './schedules.ts'

const TICKS_MAX = 500

/** How a process ends. A commit of one that is killed can still take effect. */
type End = 'aborted' | 'killed'

const write = { id: fc.bigInt({ min: 1n, max: 5n }), isRemoval: fc.boolean() }

/** How many other steps come before. */
const pause = fc.oneof(fc.constant(0), fc.nat({ max: 9 }))

type Scenario = typeof scenarios extends fc.Arbitrary<infer Type> ? Type : never

const scenarios = fc.record({
  earlier: fc.array(fc.record(write), { maxLength: 8 }),
  leftovers: fc.uniqueArray(fc.bigInt({ min: 1n, max: 8n }), { maxLength: 6 }),
  /** Each in one transaction, many larger than a page of changes, during the copy or after it. */
  writes: fc.array(
    fc.record({
      pause: fc.oneof(pause, fc.nat({ max: 60 })),
      changes: fc.array(fc.record(write), { maxLength: 6 }),
    }),
    {
      maxLength: 4,
    },
  ),
  outcomes: fc.array(fc.constantFrom<Outcome[]>('done', 'done', 'done', 'failed', 'lost'), {
    maxLength: 20,
  }),
  isMarked: fc.boolean(),
  stepMax: fc.constantFrom(1, 3, 100),
  runs: fc.array(
    fc.record({ end: fc.constantFrom<End[]>('aborted', 'killed'), restart: fc.boolean(), pause }),
    { maxLength: 2 },
  ),
  promotedAfter: pause,
})

t.test(
  'whatever fails or is cut, a mirror has whole transactions of its source up to its saved position, and ends cleanly, also when it is promoted',
  (t) => {
    const clock = new FakeClock(t as Test)
    return underSchedules(scenarios, async (schedule, scenario) => {
      clock.start()
      try {
        const model = new Model(schedule, scenario)
        let isDone = false
        const running = runAll(model, scenario).finally(() => {
          isDone = true
        })
        running.catch(() => {})
        const passTime = async () => {
          for (let tick = 0; !isDone && tick < TICKS_MAX; tick++) {
            await schedule.step('time')
            clock.tick()
          }
        }
        passTime()
        await schedule.finish()
        equal(isDone, true, 'the mirror catches up')
        await running
      } finally {
        clock.stop()
      }
    })
  },
)

/** Runs a mirror until it has caught up with all changes, and promotes it. */
async function runAll(
  model: Model,
  { earlier, writes, runs, promotedAfter }: Scenario,
): Promise<void> {
  for (const write of earlier) model.write([write])
  await mirrorAll(model, runs, writeAll(model, writes))
  deepEqual(model.mirrored(), model.plantsAt(model.feed.length))
  await promote(model, promotedAfter)
}

/** Changes plants of the source. */
async function writeAll(model: Model, writes: Scenario['writes']): Promise<void> {
  for (const { pause, changes } of writes) {
    await model.schedule.steps(pause)
    model.write(changes)
  }
}

/** Runs a mirror again and again, and at last until it has caught up with all changes. */
async function mirrorAll(
  model: Model,
  runs: Scenario['runs'],
  written: Promise<void>,
): Promise<void> {
  for (const { end, restart, pause } of runs) {
    const process = new Process(model, { restart: restart || model.needsRestart })
    await Promise.race([model.schedule.steps(pause), process.ended])
    if (end === 'killed') process.kill()
    else await process.abort()
  }
  do await new Process(model, { once: true, restart: model.needsRestart }).ended
  while (model.needsRestart || !model.isConsistent)
  await written
  await new Process(model, { once: true }).ended
}

/** Promotes the database while a process follows the source. */
async function promote(model: Model, pause: number): Promise<void> {
  const { ended } = new Process(model, {})
  await model.schedule.steps(pause)
  model.promote()
  // The process notices at the next change.
  model.write([{ id: 1n, isRemoval: false }])
  await ended
}

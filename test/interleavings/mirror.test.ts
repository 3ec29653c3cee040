import { deepEqual, equal } from 'node:assert/strict'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { FakeClock, Model, type Outcome, Process } from './mirror-model.ts'
import { underSchedules } from './schedules.ts'

const TICKS_MAX = 500

/** How a process ends. A commit of one that is killed can still take effect. */
type End = 'aborted' | 'killed'

const write = { id: fc.bigInt({ min: 1n, max: 5n }), isRemoval: fc.boolean() }

/** How many other steps come before. */
const pause = fc.nat({ max: 12 })

const scenarios = fc.record({
  earlier: fc.array(fc.record(write), { maxLength: 8 }),
  writes: fc.array(fc.record({ ...write, pause }), { maxLength: 8 }),
  outcomes: fc.array(fc.constantFrom<Outcome[]>('done', 'done', 'done', 'failed', 'lost'), {
    maxLength: 30,
  }),
  runs: fc.array(
    fc.record({ end: fc.constantFrom<End[]>('aborted', 'killed'), restart: fc.boolean(), pause }),
    { maxLength: 3 },
  ),
})

t.test(
  'whatever fails or is cut, a mirror is a prefix of its source at its saved position, and ends cleanly',
  (t) => {
    const clock = new FakeClock(t as Test)
    return underSchedules(scenarios, async (schedule, { earlier, writes, outcomes, runs }) => {
      clock.start()
      try {
        const model = new Model(schedule, outcomes)
        for (const write of earlier) model.write(write)
        let isDone = false
        const mirroring = mirrorAll(model, runs, writeAll(model, writes)).finally(() => {
          isDone = true
        })
        mirroring.catch(() => {})
        const passTime = async () => {
          for (let tick = 0; !isDone && tick < TICKS_MAX; tick++) {
            await schedule.step('time')
            clock.tick()
          }
        }
        passTime()
        await schedule.finish()
        equal(isDone, true, 'the mirror catches up')
        await mirroring
        deepEqual(model.mirrored(), model.plantsAt(model.feed.length))
      } finally {
        clock.stop()
      }
    })
  },
)

/** Changes plants of the source. */
async function writeAll(
  model: Model,
  writes: readonly (Parameters<Model['write']>[0] & { readonly pause: number })[],
): Promise<void> {
  for (const write of writes) {
    await model.schedule.steps(write.pause)
    model.write(write)
  }
}

/** Runs a mirror again and again, and at last until it has caught up with all changes. */
async function mirrorAll(
  model: Model,
  runs: readonly { readonly end: End; readonly restart: boolean; readonly pause: number }[],
  written: Promise<void>,
): Promise<void> {
  for (const { end, restart, pause } of runs) {
    const process = new Process(model, { restart })
    await Promise.race([model.schedule.steps(pause), process.ended])
    if (end === 'killed') process.kill()
    else await process.abort()
  }
  do await new Process(model, { once: true }).ended
  while (!model.isConsistent)
  await written
  await new Process(model, { once: true }).ended
}

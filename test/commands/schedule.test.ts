import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { runSchedule, type ScheduleOptions } from '../../src/commands/backup/schedule.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

interface Trial extends Pick<ScheduleOptions, 'delayMs'> {
  /** What each run does, by number: how long it takes, and the error it throws. */
  readonly runs: readonly { readonly takesMs?: number; readonly error?: Error }[]
  /** How much earlier than asked the timers are. */
  readonly earlyMs?: number
}

/** Runs an hourly schedule in virtual time until there are no more `runs`. */
async function tryOut({ delayMs, runs, earlyMs = 0 }: Trial) {
  const stop = new AbortController()
  const started: number[] = []
  const retries: number[] = []
  let time = 0
  await runSchedule({
    delayMs,
    intervalMs: HOUR,
    signal: stop.signal,
    now: () => time,
    async wait(ms) {
      time += Math.max(0, ms - earlyMs)
      return !stop.signal.aborted
    },
    async work() {
      const { takesMs = 0, error } = runs[started.length] ?? {}
      started.push(time)
      time += takesMs
      if (started.length === runs.length) stop.abort()
      if (error !== undefined) throw error
    },
    onFailure: (_error, retryMs) => retries.push(retryMs),
  })
  return { started, retries }
}

t.test('runs do not drift, however long they take', async (t) => {
  const runs = [{ takesMs: 40 * MINUTE }, { takesMs: 7 }, { takesMs: 59 * MINUTE }, {}]
  const { started } = await tryOut({ delayMs: 5 * MINUTE, runs })
  t.same(
    started,
    [0, 1, 2, 3].map((hours) => 5 * MINUTE + hours * HOUR),
  )
})

t.test('runs that are missed are skipped', async (t) => {
  const { started } = await tryOut({ delayMs: 0, runs: [{ takesMs: 2.5 * HOUR }, {}, {}] })
  t.same(started, [0, 3 * HOUR, 4 * HOUR])
})

t.test('a timer that is early does not repeat a run', async (t) => {
  const { started } = await tryOut({ delayMs: 0, runs: [{}, {}, {}], earlyMs: 1 })
  t.same(started, [0, HOUR - 1, 2 * HOUR - 1])
})

t.test(
  'failed runs are repeated, less and less often, but never later than the next',
  async (t) => {
    const failed = { error: new Error('the disk is full') }
    const runs = [...Array(8).fill(failed), {}, {}, failed, {}]
    const { started, retries } = await tryOut({ delayMs: 0, runs })
    const seconds = [10, 20, 40, 80, 160, 320, 600, 600]
    t.same(
      retries,
      [...seconds, 10].map((each) => each * 1000),
    )
    t.equal(started[8], seconds.reduce((sum, each) => sum + each) * 1000)
    t.same(started.slice(9), [HOUR, 2 * HOUR, 2 * HOUR + 10_000])

    const late = await tryOut({ delayMs: 0, runs: [{ ...failed, takesMs: HOUR - 1 }, {}] })
    t.same(late, { started: [0, HOUR], retries: [1] })
  },
)

t.test(
  'a stop ends the wait at once, and the failure of interrupted work is ignored',
  async (t) => {
    for (const delayMs of [0, HOUR]) {
      const stop = new AbortController()
      const { signal } = stop
      const begun = Promise.withResolvers<void>()
      const run = runSchedule({
        delayMs,
        intervalMs: HOUR,
        signal,
        async work() {
          begun.resolve()
          await new Promise((_, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason)),
          )
        },
        onFailure: () => t.fail('reported'),
      })
      if (delayMs === 0) await begun.promise
      else await setImmediate()
      stop.abort()
      await run
    }
    t.pass('both have ended')
  },
)

import { type Clock, systemClock } from '../../../core/time/clock.ts'
import type { OnProblem } from './engine.ts'

/** If the clocks drift apart by more than this between two readings, one of them was set. */
const STEP_MS = 60_000

/** How long a process watches the clocks before it trusts them. They may be set soon after the machine starts. */
const SETTLING_MS = 600_000

/** More than any age. */
const FOREVER_MS = Number.MAX_SAFE_INTEGER

interface Step {
  /** By the monotonic clock. */
  readonly at: number
  /** Negative if the clock was set back. */
  readonly ms: number
}

/**
 * Keeps the retention from deleting changes that only look old because the clock was set forward: it deletes only
 * changes that grew old while a process was watching the clocks.
 */
export class RetentionClock {
  readonly #age: number
  readonly #onProblem: OnProblem
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #settledAt: number
  #last: { readonly wall: number; readonly monotonic: number } | undefined
  #steps: Step[] = []

  /**
   * @param age how long changes are kept, in milliseconds
   * @param onProblem receives each step of the clock
   */
  constructor(
    age: number,
    onProblem: OnProblem = () => {},
    clock: Pick<Clock, 'monotonic'> = systemClock,
  ) {
    this.#age = age
    this.#onProblem = onProblem
    this.#clock = clock
    this.#settledAt = clock.monotonic() + Math.min(age, SETTLING_MS)
  }

  /**
   * Reads the clocks. Returns how much longer than `age` to keep changes, in milliseconds.
   *
   * @param wall the time by the clock that dates the changes, in milliseconds since 1970
   */
  grace(wall: number): number {
    const monotonic = this.#clock.monotonic()
    const last = this.#last ?? { wall, monotonic }
    this.#last = { wall, monotonic }
    const ms = wall - last.wall - (monotonic - last.monotonic)
    if (Math.abs(ms) > STEP_MS) this.#noteStep({ at: monotonic, ms })
    // After that time, the changes made before the step are too old by any clock.
    this.#steps = this.#steps.filter(({ at }) => monotonic - at < this.#age)
    return monotonic < this.#settledAt ? FOREVER_MS : sumOfSteps(this.#steps)
  }

  #noteStep(step: Step): void {
    this.#steps.push(step)
    const direction = step.ms > 0 ? 'forward' : 'back'
    const minutes = Math.round(Math.abs(step.ms) / 60_000)
    this.#onProblem(
      `the clock went ${direction} by ${minutes} min: if it was set by mistake, correct it. Changes made before are ` +
        'kept for up to that much longer than --keep-changes, so that none is deleted too early',
    )
  }
}

/** How much older a change can look than it is. A step back does not cancel a later step forward. */
function sumOfSteps(steps: readonly Step[]): number {
  return steps.reduce((sum, { ms }) => Math.max(0, sum + ms), 0)
}

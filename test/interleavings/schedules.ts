/** Runs the asynchronous steps of a scenario in many orders. fast-check's scheduler chooses each order by a seed. */
import { equal } from 'node:assert/strict'
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { runs } from '../helpers/plants/runs.ts'

const SCHEDULES = 100

/** A run with more steps is taken for an endless loop. */
const STEPS_MAX = 5000

/**
 * Checks a scenario under many schedules. The error of a failure has the shortest failing scenario, the steps in
 * their order, and a seed and path. To replay it, pass the seed and the path up to its first colon as `parameters`, such
 * as `{ seed: 42, path: '7' }`. The rest of the path is that of shorter scenarios, whose schedules can differ.
 */
export function underSchedules<Scenario>(
  scenarios: fc.Arbitrary<Scenario>,
  check: (schedule: Schedule, scenario: Scenario) => Promise<void>,
  parameters: fc.Parameters<[fc.Scheduler, Scenario]> = {},
): Promise<void> {
  const property = fc.asyncProperty(fc.scheduler(), scenarios, (scheduler, scenario) =>
    check(new Schedule(scheduler), scenario),
  )
  return fc.assert(property, { numRuns: runs(SCHEDULES), ...parameters })
}

/** The steps of one run. Everything else in it must happen in microtasks. */
export class Schedule {
  readonly #scheduler: fc.Scheduler
  #violation: Error | undefined
  #steps = 0

  constructor(scheduler: fc.Scheduler) {
    this.#scheduler = scheduler
  }

  /** Resolves when the schedule comes to this step. */
  step(label: string): Promise<void> {
    this.#steps++
    this.expect(this.#steps <= STEPS_MAX, true, 'the steps end')
    if (this.#steps > STEPS_MAX) return new Promise(() => {})
    return this.#scheduler.schedule(Promise.resolve(), label)
  }

  /** Resolves after some steps, between which others have time. */
  async steps(count: number): Promise<void> {
    for (let each = 0; each < count; each++) await this.step('pause')
  }

  /** Resolves when the schedule lets the event loop begin another turn. */
  turn(): Promise<void> {
    const afterTurn = async (run: () => Promise<void>) => {
      await setImmediate()
      await run()
    }
    return this.#scheduler.schedule(Promise.resolve(), 'turn', undefined, afterTurn)
  }

  /** Like `equal` of `node:assert`, but reported by `finish`, because the code under test catches what is thrown in it. */
  expect<Value>(actual: Value, expected: Value, message: string): void {
    try {
      equal(actual, expected, message)
    } catch (error) {
      this.#violation ??= error as Error
    }
  }

  /** Runs steps until none are left. */
  async finish(): Promise<void> {
    await this.#scheduler.waitIdle()
    if (this.#violation !== undefined) throw this.#violation
  }
}

/** Returns the items of a list one after the other, and then always `last`. */
export function inTurn<Item>(items: readonly Item[], last: Item): () => Item {
  const rest = items.values()
  return () => rest.next().value ?? last
}

/** Resolves when a signal aborts. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}

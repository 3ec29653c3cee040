import type { Test } from 'tap'
import { systemClock } from '../../core/time/clock.ts'

/** Replaces the waits until the end of the test. Each ends as soon as `pass` does. */
export function replaceWaits(t: Test, pass: (milliseconds: number) => unknown): void {
  const { wait } = systemClock
  t.teardown(() => Object.assign(systemClock, { wait }))
  Object.assign(systemClock, { wait: async (milliseconds: number) => pass(milliseconds) })
}

import type { Test } from 'tap'

/**
 * Stops performance.now() until the test ends. A wait that ends without its event after some time then lasts forever, so
 * a missed event fails the test however slow the machine is.
 *
 * @returns lets time pass
 */
export function freezeClock(t: Test): (milliseconds: number) => void {
  let now = performance.now()
  t.intercept(performance, 'now', { value: () => now })
  return (milliseconds) => {
    now += milliseconds
  }
}

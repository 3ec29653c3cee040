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
  // Such waits do not keep the process running.
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  return (milliseconds) => {
    now += milliseconds
  }
}

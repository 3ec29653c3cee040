import { setImmediate } from 'node:timers/promises'

/** Resolves to whether a promise has settled, after many turns of the event loop. */
export async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  const settle = () => {
    settled = true
  }
  promise.then(settle, settle)
  for (let turn = 0; turn < 20; turn++) await setImmediate()
  return settled
}

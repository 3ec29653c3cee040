import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { systemClock } from '../../core/time/clock.ts'
import { retry } from '../../core/time/retries.ts'
import { codeOf } from '../system/user-errors.ts'

/** Starting takes a second or two. Anyone on this machine can hold the lock, so it must not prevent a start. */
const WAIT_MAX_MS = 10_000

/** Limits how often a holder that disconnects immediately causes a retry. */
const PAUSE_MS = 20

/**
 * Waits until no other service in this network namespace is starting on the same port, at most `waitMax` milliseconds.
 * On systems other than Linux, there is no lock.
 *
 * @returns a function that releases the lock
 */
export async function acquireStartLock(port: number, waitMax = WAIT_MAX_MS): Promise<() => void> {
  // In Linux's abstract namespace, so that the system removes it when the process ends (unix(7)).
  const address = `\0plant-store is starting on port ${port}`
  const signal = AbortSignal.timeout(waitMax)
  const withoutLock = () => {}
  if (process.platform !== 'linux') return withoutLock
  const acquired = retry(() => listenOn(address), {
    delayMs: PAUSE_MS,
    // For example, the service may not be permitted to create such sockets.
    delayAfter: (error) => (codeOf(error) === 'EADDRINUSE' ? 0 : undefined),
    signal,
    wait: async (delayMs) => {
      await waitForRelease(address, signal)
      await systemClock.wait(delayMs, signal)
    },
  })
  return acquired.catch(() => withoutLock)
}

async function listenOn(address: string): Promise<() => void> {
  const waiting = new Set<Socket>()
  const server = createServer((socket) => waiting.add(socket.on('error', () => {})))
  server.listen(address)
  await once(server, 'listening')
  return () => {
    server.close()
    for (const socket of waiting) socket.destroy()
  }
}

/** Stays connected to the holder of the lock until that disconnects. */
async function waitForRelease(path: string, signal: AbortSignal): Promise<void> {
  const socket = connect({ path, signal })
  const closed = new Promise((resolve) => socket.once('close', resolve))
  // The holder has just released the lock, or the time is over.
  socket.on('error', () => {})
  await closed
}

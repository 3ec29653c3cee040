import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** In Linux's abstract namespace, so that the system removes it when the process ends (unix(7)). */
const ADDRESS = '\0plant-store is starting'

/** Starting takes a second or two. Anyone on this machine can hold the lock, so it must not prevent a start. */
const WAIT_MAX_MS = 10_000

/**
 * Waits until no other service in this network namespace holds the lock, at most `waitMax` milliseconds. Does nothing on
 * systems other than Linux.
 *
 * @returns a function that releases the lock
 */
export async function acquireStartLock(waitMax = WAIT_MAX_MS): Promise<() => void> {
  const signal = AbortSignal.timeout(waitMax)
  while (process.platform === 'linux' && !signal.aborted) {
    const release = await tryLock()
    if (release !== undefined) return release
    await waitForRelease(signal)
  }
  return () => {}
}

async function tryLock(): Promise<(() => void) | undefined> {
  const waiting = new Set<Socket>()
  const server = createServer((socket) => waiting.add(socket.on('error', () => {})))
  try {
    server.listen(ADDRESS)
    await once(server, 'listening')
  } catch {
    return undefined
  }
  return () => {
    server.close()
    for (const socket of waiting) socket.destroy()
  }
}

/** Stays connected to the owner of the lock until that disconnects. */
async function waitForRelease(signal: AbortSignal): Promise<void> {
  const socket = connect({ path: ADDRESS, signal })
  const closed = new Promise((resolve) => socket.once('close', resolve))
  // The owner has just released the lock, or the time is over.
  socket.on('error', () => {})
  await closed
}

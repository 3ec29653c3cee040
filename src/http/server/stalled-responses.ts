import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** How often to check connections; more often if the timeout is short. */
const INTERVAL_MS = 1000

/** Bytes that a client has not read yet, and when it last read some. */
interface Backlog {
  readonly bytes: number
  readonly since: number
}

/** Closes connections whose client has left bytes waiting and read none of them for `timeoutMs`. */
export function abortStalledResponses(
  app: FastifyInstance,
  connections: ReadonlySet<Socket>,
  timeoutMs: number,
): void {
  const backlogs = new WeakMap<Socket, Backlog>()

  const check = () => {
    const now = performance.now()
    for (const connection of connections) {
      const bytes = countUnread(connection)
      const before = backlogs.get(connection)
      const since = before === undefined || bytes < before.bytes ? now : before.since
      if (bytes === 0) backlogs.delete(connection)
      else if (now - since >= timeoutMs) connection.destroy()
      else backlogs.set(connection, { bytes, since })
    }
  }

  const timer = setInterval(check, Math.min(INTERVAL_MS, timeoutMs / 4)).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

/**
 * A write counts in full in `writableLength` until the system has accepted all of it. Only the handle knows how much
 * remains; node:net uses it too, to detect progress.
 */
function countUnread(
  connection: Socket & { _handle?: { writeQueueSize?: number } | null },
): number {
  return connection.writableLength + (connection._handle?.writeQueueSize ?? 0)
}

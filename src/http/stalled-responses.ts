import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** How often to check connections, in milliseconds; more often if the timeout is short. */
const INTERVAL_MS = 1000

/** Bytes that wait for a client, and the time since which it has read none. */
interface Backlog {
  readonly bytes: number
  readonly since: number
}

/**
 * Closes connections whose client has read none of the bytes waiting for it for a whole timeout. Time in which nothing
 * is waiting does not count.
 *
 * @param timeout in milliseconds
 */
export function abortStalledResponses(
  app: FastifyInstance,
  connections: ReadonlySet<Socket>,
  timeout: number,
): void {
  const backlogs = new WeakMap<Socket, Backlog>()

  const look = () => {
    const now = performance.now()
    for (const connection of connections) {
      const bytes = bytesWaiting(connection)
      const before = backlogs.get(connection)
      const since = before === undefined || bytes < before.bytes ? now : before.since
      if (bytes === 0) backlogs.delete(connection)
      else if (now - since >= timeout) connection.destroy()
      else backlogs.set(connection, { bytes, since })
    }
  }

  const timer = setInterval(look, Math.min(INTERVAL_MS, timeout / 4)).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

/**
 * A write counts in full in `writableLength` until the system has taken all of it. Only the handle knows how much
 * remains; node:net also uses it to detect progress.
 */
function bytesWaiting(
  connection: Socket & { _handle?: { writeQueueSize?: number } | null },
): number {
  return connection.writableLength + (connection._handle?.writeQueueSize ?? 0)
}

import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** How often connections are looked at, in milliseconds, or more often where the timeout is short. */
const INTERVAL_MS = 1000

/** How many bytes wait for a client, and since when it has taken none of them. */
interface Backlog {
  readonly bytes: number
  readonly since: number
}

/**
 * Closes a connection whose client has not taken any of the bytes that wait for it for a whole timeout.
 * Time in which nothing waits for the client does not count.
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
 * A write is one piece for the stream, however large, and counts in `writableLength` until all of it is with
 * the system. Only the handle knows what is left of it; node:net itself looks there for progress.
 */
function bytesWaiting(
  connection: Socket & { _handle?: { writeQueueSize?: number } | null },
): number {
  return connection.writableLength + (connection._handle?.writeQueueSize ?? 0)
}

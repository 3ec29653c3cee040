import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { type ConnectionTimeouts, latestResponse } from './one-request.ts'

/** How often to check connections; more often if a timeout is short. */
const INTERVAL_MS = 1000

/** Bytes that a client has not read yet, and when it last read some. */
interface Backlog {
  readonly bytes: number
  readonly since: number
}

/**
 * Closes connections whose client reads none of the bytes that wait for it, and those that stay idle after a response.
 * Node's keep-alive timeout does not close the latter: it ends with the first byte, although that can be an empty line
 * before a request (RFC 9112 §2.2), which starts no request and thus no other timeout. A request that begins within the
 * keep-alive timeout has its whole time to arrive.
 *
 * @param connections the open connections that have sent a request
 */
export function closeSlowConnections(
  app: FastifyInstance,
  connections: ReadonlySet<Socket>,
  { requestTimeoutMs, responseTimeoutMs }: ConnectionTimeouts,
): void {
  const backlogs = new WeakMap<Socket, Backlog>()
  /** When the last response of an idle connection was first seen, in milliseconds. */
  const ends = new WeakMap<ServerResponse, number>()

  const isStalled = (connection: Socket, now: number): boolean => {
    const bytes = countUnread(connection)
    const before = backlogs.get(connection)
    const since = before === undefined || bytes < before.bytes ? now : before.since
    if (bytes === 0) backlogs.delete(connection)
    else backlogs.set(connection, { bytes, since })
    return bytes > 0 && now - since >= responseTimeoutMs
  }
  const isIdle = (connection: Socket, now: number): boolean => {
    const response = latestResponse(connection)
    if (!response?.closed) return false
    const end = ends.get(response) ?? now
    ends.set(response, end)
    return now - end > app.server.keepAliveTimeout + requestTimeoutMs
  }
  const check = () => {
    const now = performance.now()
    for (const connection of connections) {
      if (isStalled(connection, now) || isIdle(connection, now)) connection.destroy()
    }
  }
  const interval = Math.min(INTERVAL_MS, requestTimeoutMs, responseTimeoutMs / 4)
  const timer = setInterval(check, interval).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

/**
 * A write counts in full in `writableLength` until the system has accepted all of it. Only the handle knows how much
 * remains; node:net uses it too, to detect progress (nodejs/node#44157).
 */
function countUnread(
  connection: Socket & { _handle?: { writeQueueSize?: number } | null },
): number {
  return connection.writableLength + (connection._handle?.writeQueueSize ?? 0)
}

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { latestResponse } from './one-request.ts'

/** How often to check connections; more often if the time in which a request must arrive is short. */
const INTERVAL_MS = 1000

/**
 * Closes connections that stay idle after a response. Node's keep-alive timeout does not: it ends with the first byte,
 * although that can be an empty line before a request (RFC 9112 §2.2), which starts no request and thus no other
 * timeout. A request that begins within the keep-alive timeout has its whole time to arrive.
 *
 * @param connections the open connections that have sent a request
 * @param requestTimeoutMs how long a request can take to arrive
 */
export function closeIdleConnections(
  app: FastifyInstance,
  connections: ReadonlySet<Socket>,
  requestTimeoutMs: number,
): void {
  /** When the last response of an idle connection was first seen, in milliseconds. */
  const ends = new WeakMap<ServerResponse, number>()

  const check = () => {
    const now = performance.now()
    const limit = app.server.keepAliveTimeout + requestTimeoutMs
    for (const connection of connections) {
      const response = latestResponse(connection)
      if (!response?.closed) continue
      const end = ends.get(response)
      if (end === undefined) ends.set(response, now)
      else if (now - end > limit) connection.destroy()
    }
  }
  const timer = setInterval(check, Math.min(INTERVAL_MS, requestTimeoutMs)).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

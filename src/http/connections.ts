import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

const latest = Symbol('the response to the latest request of a connection')
const served = Symbol('the response to the latest request of a connection that is served')

type Response = ServerResponse<IncomingMessage>
type Connection = Socket & { [latest]?: Response; [served]?: Response }

/** RFC 9110 §9.2.1. */
const SAFE = ['GET', 'HEAD', 'OPTIONS']

/** What `latestResponse` has to know of the requests that the parser lets through. */
export function watchConnections(server: Server): void {
  server.prependListener('request', (request, response) => {
    const connection: Connection = request.socket
    connection[latest] = response
  })
}

/** To the latest request of a connection, whether it is under way or ended; if there was one. */
export function latestResponse(connection: Connection): ServerResponse | undefined {
  return connection[latest]
}

/**
 * Serves requests that a client has sent without waiting for answers (pipelining) one after the other,
 * unless those that would be served together are safe (RFC 9112 §9.3.2).
 */
export function keepOrder(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw: request }, { raw: response }, next) => {
    const connection: Connection = request.socket
    const previous = connection[served]
    connection[served] = response
    const ended = previous === undefined || previous.closed
    if (ended || (isSafe(previous.req) && isSafe(request))) next()
    else previous.once('close', () => next())
  })
}

function isSafe({ method = '' }: IncomingMessage): boolean {
  return SAFE.includes(method)
}

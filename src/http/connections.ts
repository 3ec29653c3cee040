import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

const latest = Symbol('the response to the latest request of a connection')
const before = Symbol('the response that has to be sent before a request is served')

type Response = ServerResponse<IncomingMessage> & { [before]?: Response }
type Connection = Socket & { [latest]?: Response }

/** RFC 9110 §9.2.1. */
const SAFE = ['GET', 'HEAD', 'OPTIONS']

/** Notes what comes on which connection. */
export function watchConnections(server: Server): void {
  server.prependListener('request', (request, response: Response) => {
    const connection: Connection = request.socket
    const previous = connection[latest]
    connection[latest] = response
    if (previous?.writableFinished === false && !(isSafe(previous.req) && isSafe(request))) {
      response[before] = previous
    }
  })
}

/**
 * Serves requests that a client has sent without waiting for answers (pipelining) one after the other,
 * unless all that is asked for is safe (RFC 9112 §9.3.2).
 */
export function keepOrder(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, { raw }, next) => {
    const previous = (raw as Response)[before]
    if (previous === undefined) next()
    else previous.once('close', () => next())
  })
}

/** To the latest request of a connection, whether it is under way or ended; if there was one. */
export function latestResponse(connection: Connection): ServerResponse | undefined {
  return connection[latest]
}

function isSafe({ method = '' }: IncomingMessage): boolean {
  return SAFE.includes(method)
}

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Pipelined requests that may wait for their turn, on all connections together. */
const WAITING_MAX = 10_000

/** Pipelined requests that may wait on one connection before we stop reading from it. */
const PIPELINE_MAX = 100

const latest = Symbol('the response to the latest request of a connection')
const served = Symbol('the response to the request of a connection that is being served')
const line = Symbol('the requests of a connection that wait for their turn, in order')

interface Waiting {
  readonly response: ServerResponse
  /** Serves the request, or refuses it. */
  start: () => void
}

type Connection = Socket & {
  [latest]?: ServerResponse<IncomingMessage>
  [served]?: ServerResponse
  [line]?: Waiting[]
}

/** Remembers what `latestResponse` has to know about each connection. */
export function watchConnections(server: Server): void {
  server.prependListener('request', (request, response) => {
    const connection: Connection = request.socket
    connection[latest] = response
  })
}

/** The response to the latest request of a connection, in flight or ended, if there was one. */
export function latestResponse(connection: Connection): ServerResponse | undefined {
  return connection[latest]
}

/**
 * Serves the pipelined requests of a connection one at a time, in order (RFC 9112 §9.3.2). Otherwise a
 * client could make us prepare thousands of responses that it never reads. Requests whose connection is
 * gone are not served. When too many requests wait in the whole process, a connection that adds another
 * one is closed: a client that pipelines has to expect that (§9.3.1).
 *
 * @param connections kept up to date: the connections that have sent a request and are open
 */
export function serveInTurn(app: FastifyInstance, connections: Set<Socket>): void {
  let waitingCount = 0

  app.addHook('onRequest', ({ raw: request }, { raw: response }, next) => {
    const connection: Connection = request.socket
    if (connection.destroyed) return
    const current = connection[served]
    if (current === undefined) track(connection)
    else if (!current.closed) return wait(connection, current, { response, start: next })
    connection[served] = response
    next()
  })

  function track(connection: Socket): void {
    // Node knows the address of a closed connection only if it was asked for before; the log needs it then.
    void connection.remoteAddress
    connections.add(connection)
    connection.once('close', () => connections.delete(connection))
  }

  function wait(connection: Connection, current: ServerResponse, waiting: Waiting): void {
    if (waitingCount === WAITING_MAX) {
      connection.destroy()
      return
    }
    waitingCount++
    connection[line] ??= []
    const length = connection[line].push(waiting)
    if (length === 1) current.once('close', () => advance(connection))
    // Not now: the parser resumes the connection at the end of each request in what it has read.
    if (length === PIPELINE_MAX) setImmediate(() => connection[line]?.length && connection.pause())
  }

  function advance(connection: Connection): void {
    const queue = connection[line] ?? []
    if (connection.destroyed) waitingCount -= queue.splice(0).length
    const first = queue.shift()
    if (first === undefined) return
    waitingCount--
    if (queue.length > 0) first.response.once('close', () => advance(connection))
    else connection.resume()
    connection[served] = first.response
    first.start()
  }
}

/**
 * Does something else in place of serving a request, when it is the last one of its connection and still
 * waits for its turn. Returns whether it did.
 */
export function replaceWaiting(
  connection: Connection,
  response: ServerResponse,
  start: () => void,
) {
  const last = connection[line]?.at(-1)
  if (last?.response !== response) return false
  last.start = start
  return true
}

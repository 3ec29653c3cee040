import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

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

/** The response to the latest request of a connection, waiting, in flight or ended, if there was one. */
export function latestResponse(connection: Connection): ServerResponse | undefined {
  return connection[latest]
}

/**
 * Serves the pipelined requests of a connection one at a time, in order (RFC 9112 §9.3.2). Otherwise a
 * client could make us prepare thousands of responses that it never reads. Requests whose connection is
 * gone are not served. When too many requests wait in the whole process, a connection that adds another
 * one is closed: a client that pipelines has to expect that (§9.3.1).
 *
 * It stands between the server and its listener, as a request that waits should cost as little as possible.
 *
 * @param connections kept up to date: the connections that have sent a request and are open
 */
export function serveInTurn(server: Server, connections: Set<Socket>): void {
  const [serve] = server.listeners('request') as [RequestListener]
  let waitingCount = 0

  server.off('request', serve).on('request', (request, response) => {
    const connection: Connection = request.socket
    if (connection.destroyed) return
    const current = connection[served]
    connection[latest] = response
    if (current === undefined) track(connection)
    else if (!current.closed) return wait(connection, current, request, response)
    connection[served] = response
    serve(request, response)
  })

  function track(connection: Connection): void {
    // Node knows the address of a closed connection only if it was asked for before; the log needs it then.
    void connection.remoteAddress
    connections.add(connection)
    // Node makes two errors for each request that waits on a closed connection, whose stack traces would take
    // most of the time: a tenth of a second for a thousand requests.
    const { stackTraceLimit } = Error
    connection.prependOnceListener('close', () => {
      if (connection[line]?.length) Error.stackTraceLimit = 0
    })
    connection.once('close', () => {
      Error.stackTraceLimit = stackTraceLimit
      connections.delete(connection)
    })
  }

  function wait(
    connection: Connection,
    current: ServerResponse,
    request: IncomingMessage,
    response: ServerResponse<IncomingMessage>,
  ): void {
    if (waitingCount === WAITING_MAX) {
      connection.destroy()
      return
    }
    waitingCount++
    connection[line] ??= []
    const length = connection[line].push({ response, start: () => serve(request, response) })
    if (length === 1) current.once('close', () => advance(connection))
    if (length === PIPELINE_MAX) stopReading(connection)
  }

  function advance(connection: Connection): void {
    const queue = connection[line] as Waiting[]
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

/** Until all requests that wait are served. */
function stopReading(connection: Connection): void {
  // Ends the loop in which libuv reads up to 2 MB at once …
  connection.pause()
  // … but the parser resumes the connection at the end of each request in what was read.
  setImmediate(() => connection[line]?.length && connection.pause())
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

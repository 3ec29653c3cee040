import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Pipelined requests that may be queued, across all connections. */
const WAITING_MAX = 10_000

/** Pipelined requests that may be queued on one connection before we stop reading from it. */
const PIPELINE_MAX = 100

const latest = Symbol('the response to the latest request of a connection')
const served = Symbol('the response to the request of a connection that is being served')
const line = Symbol('the requests of a connection that wait for their turn, in order')

interface Waiting {
  readonly response: ServerResponse
  /** Serves or rejects the request. */
  start: () => void
}

type Connection = Socket & {
  [latest]?: ServerResponse<IncomingMessage>
  [served]?: ServerResponse
  [line]?: Waiting[]
}

/** The response to the latest request of a connection, whether queued, in flight or ended. */
export function latestResponse(connection: Connection): ServerResponse | undefined {
  return connection[latest]
}

/**
 * Serves the pipelined requests of a connection one at a time, in order (RFC 9112 §9.3.2). Otherwise a
 * client could make us prepare thousands of responses that it never reads. Requests of a closed connection are
 * dropped. When the queue of the process is full, a connection that pipelines another request is closed, which
 * clients must expect (§9.3.1).
 *
 * This wraps the server's listener, before the framework, so that a queued request costs as little as possible.
 *
 * @param connections kept up to date: open connections that have sent a request
 */
export function serveInTurn(server: Server, connections: Set<Socket>): void {
  const [serve] = server.listeners('request') as [RequestListener]
  let waitingCount = 0

  server.off('request', serve).on('request', (request, response) => {
    const connection: Connection = request.socket
    if (connection.destroyed || connection.writableEnded) return
    const current = connection[served]
    connection[latest] = response
    if (current === undefined) track(connection)
    else if (!current.closed) return wait(connection, current, request, response)
    connection[served] = response
    serve(request, response)
  })

  function track(connection: Connection): void {
    // Node caches the address on first access. The log needs it after the connection has closed.
    void connection.remoteAddress
    connections.add(connection)
    // Node creates two errors for each queued request of a closed connection. Their stack traces would take a
    // tenth of a second per thousand requests.
    let { stackTraceLimit } = Error
    connection.prependOnceListener('close', () => {
      stackTraceLimit = Error.stackTraceLimit
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
    // Also after a response that was the last one of its connection.
    if (connection.destroyed || connection.writableEnded) waitingCount -= queue.splice(0).length
    const first = queue.shift()
    if (first === undefined) return
    waitingCount--
    if (queue.length > 0) first.response.once('close', () => advance(connection))
    else connection.resume()
    connection[served] = first.response
    first.start()
  }
}

/** Stops reading until all queued requests are served. */
function stopReading(connection: Connection): void {
  // Ends the loop in which libuv reads up to 2 MB at once.
  connection.pause()
  // The parser then resumes the connection after each request it has already read, so pause again.
  setImmediate(() => connection[line]?.length && connection.pause())
}

/**
 * Replaces the action for a request that is still queued and is the last one of its connection.
 *
 * @returns whether it was replaced
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

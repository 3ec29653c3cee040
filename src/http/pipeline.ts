import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { SharedCounter } from '../shared-memory/shared-counter.ts'

/** How many requests can be queued, across all connections of the process. */
const QUEUED_MAX = 10_000

/** How many requests of one connection can be queued before we stop reading from it. */
const PIPELINE_LENGTH_MAX = 100

const latest = Symbol('the response to the latest request of a connection')
const current = Symbol('the response to the request being served')
const queue = Symbol('the pipelined requests that follow it, in order')
const queued = Symbol('is called when a request is queued')

interface QueuedRequest {
  readonly response: ServerResponse
  /** Serves or rejects the request. */
  start: () => void
}

/** Properties rather than a WeakMap, because they are read for every request. */
type Connection = Socket & {
  [latest]?: ServerResponse<IncomingMessage>
  [current]?: ServerResponse
  [queue]?: QueuedRequest[]
  [queued]?: (() => void) | undefined
}

/** The response to the latest request of a connection, whether queued, in flight or ended. */
export function latestResponse(connection: Connection): ServerResponse | undefined {
  return connection[latest]
}

/**
 * Serves the pipelined requests of a connection one at a time, in order (RFC 9112 §9.3.2). Otherwise a client could
 * make us prepare thousands of responses that it never reads. Requests of a closed connection are dropped. While the
 * process has too many queued requests, a connection that pipelines another one is closed; clients must expect that
 * (§9.3.1).
 *
 * Wraps Fastify's listener, so that a queued request costs as little as possible.
 *
 * @param queuedRequests their number in the process
 * @param dropped counts the connections closed because of that number
 * @returns the open connections that have sent a request, kept up to date
 */
export function servePipelined(
  server: Server,
  queuedRequests: SharedCounter,
  dropped: SharedCounter,
): ReadonlySet<Socket> {
  const [serve] = server.listeners('request') as [RequestListener]
  const connections = new Set<Socket>()

  server.off('request', serve).on('request', (request, response) => {
    const connection: Connection = request.socket
    if (connection.destroyed || connection.writableEnded) return
    const previous = connection[current]
    // RFC 9112 §9.6
    if (previous !== undefined && isLast(previous)) return stopReading(connection)
    connection[latest] = response
    if (previous === undefined) track(connection)
    else if (!previous.closed) return enqueue(connection, previous, request, response)
    connection[current] = response
    serve(request, response)
  })
  return connections

  function track(connection: Connection): void {
    // Node caches the address on first access. The log needs it after the connection has closed.
    void connection.remoteAddress
    connections.add(connection)
    // Node creates two errors for each queued request of a closed connection. Their stack traces would take a
    // tenth of a second per thousand requests.
    let { stackTraceLimit } = Error
    connection.prependOnceListener('close', () => {
      stackTraceLimit = Error.stackTraceLimit
      if (connection[queue]?.length) Error.stackTraceLimit = 0
    })
    connection.once('close', () => {
      Error.stackTraceLimit = stackTraceLimit
      connections.delete(connection)
    })
  }

  function enqueue(
    connection: Connection,
    previous: ServerResponse,
    request: IncomingMessage,
    response: ServerResponse<IncomingMessage>,
  ): void {
    if (!queuedRequests.addIf((count) => count < QUEUED_MAX, 1)) {
      dropped.add(1)
      connection.destroy()
      return
    }
    connection[queue] ??= []
    const length = connection[queue].push({ response, start: () => serve(request, response) })
    if (length === 1) previous.once('close', () => advance(connection))
    if (length === PIPELINE_LENGTH_MAX) stopReading(connection)
    connection[queued]?.()
  }

  function advance(connection: Connection): void {
    const requests = connection[queue] as QueuedRequest[]
    // `writableEnded` also covers a response that announced `Connection: close`.
    if (connection.destroyed || connection.writableEnded) {
      queuedRequests.add(-requests.splice(0).length)
    }
    const first = requests.shift()
    if (first === undefined) return
    queuedRequests.add(-1)
    if (requests.length > 0) first.response.once('close', () => advance(connection))
    else connection.resume()
    connection[current] = first.response
    first.start()
  }
}

/** Whether a response has announced that it is the last one of its connection. */
function isLast({ headersSent, shouldKeepAlive }: ServerResponse): boolean {
  return headersSent && !shouldKeepAlive
}

/** Stops reading from a connection until its queued requests are served, or for good after its last response. */
function stopReading(connection: Connection): void {
  // Ends the loop in which libuv reads up to 2 MB at once.
  connection.pause()
  // The parser then resumes the connection after each request it has already read, so pause again.
  setImmediate(() => {
    const response = connection[current] as ServerResponse
    if (connection[queue]?.length || isLast(response)) connection.pause()
  })
}

/**
 * Makes the response in progress the last one of its connection. The requests that follow it are dropped, so that they
 * do not count as queued while it lasts. Must be called before its head is sent.
 *
 * @param queuedRequests their number in the process
 */
export function endPipeline(
  response: ServerResponse<IncomingMessage>,
  queuedRequests: SharedCounter,
): void {
  const connection: Connection = response.req.socket
  response.shouldKeepAlive = false
  connection[latest] = response
  queuedRequests.add(-(connection[queue]?.splice(0).length ?? 0))
}

/** Calls a function when a request is queued, at once if there is one already. Undefined ends that. */
export function onQueued(connection: Connection, callback: (() => void) | undefined): void {
  connection[queued] = callback
  if (connection[queue]?.length) callback?.()
}

/**
 * Changes what happens to the last request of a connection once its turn comes.
 *
 * @returns false if it is no longer queued
 */
export function replaceQueued(
  connection: Connection,
  response: ServerResponse,
  start: () => void,
): boolean {
  const last = connection[queue]?.at(-1)
  if (last?.response !== response) return false
  last.start = start
  return true
}

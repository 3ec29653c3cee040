import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionCounts } from './connection-limit.ts'

/** Makes Node's parser ignore the rest of a chunk, as it does after an upgrade. */
const PARSE_NO_MORE = 2

/** How many bytes of a client that does not stop sending are discarded. Further ones are left unread. */
const DISCARDED_BYTES_MAX = 2 ** 25

const latest = Symbol('the response to the latest served request')
const closing = Symbol('whether the connection accepts no more requests')

/** Properties rather than a WeakMap, because they are read for every request. */
type TrackedSocket = Socket & {
  [latest]?: ServerResponse
  [closing]?: boolean
  /** Node's. After CONNECT, there is none. */
  parser?: Parser | null
}

export interface ConnectionTimeouts {
  /** How long a request can take to arrive. */
  readonly requestTimeoutMs: number
  /** How long a client can take to read some of the bytes that wait for it. */
  readonly responseTimeoutMs: number
}

/** The part of Node's parser that decides what happens after a head. */
interface Parser {
  onIncoming: () => number
  incoming: IncomingMessage | null
}

/** The response to the latest request of a connection, whether in flight or ended. */
export function latestResponse(connection: TrackedSocket): ServerResponse | undefined {
  return connection[latest]
}

/** Whether a connection accepts no more requests and closes after the response in flight. */
export function isClosing(connection: TrackedSocket): boolean {
  return connection[closing] === true
}

interface OneRequest {
  /** Calls `serve` if the request can be served. */
  admit(request: IncomingMessage, response: ServerResponse, serve: () => void): void
  /** The open connections that have sent a request. */
  readonly connections: ReadonlySet<Socket>
}

/**
 * Serves one request at a time on each connection. Otherwise a client could make us prepare thousands of responses that
 * it never reads. If another request arrives before the response has ended, the connection accepts no more requests and
 * closes after that response. Clients that pipeline must expect that (RFC 9112 §9.3.2).
 *
 * In both that case and when the last response of a connection precedes the end of its request, as for a refused body,
 * the client can still read the response: see `linger`.
 *
 * @param counts includes the connections closed because another request arrived
 */
export function oneRequestPerConnection(
  { requestTimeoutMs, responseTimeoutMs }: ConnectionTimeouts,
  counts: ConnectionCounts,
): OneRequest {
  const connections = new Set<Socket>()
  return { admit, connections }

  function admit({ socket }: IncomingMessage, response: ServerResponse, serve: () => void): void {
    const connection: TrackedSocket = socket
    if (connection.destroyed || connection.writableEnded) return
    const previous = connection[latest]
    if (previous !== undefined && !previous.closed) {
      if (!previous.writableEnded || !('encrypted' in connection)) {
        refuse(previous)
        return
      }
      // Over TLS, Node reports only in the next turn of the event loop that a response has been sent.
      setImmediate(() => {
        if (!previous.closed) refuse(previous)
        else if (!connection.destroyed) serve()
      })
    } else {
      if (previous === undefined) track(connection)
      serve()
    }
    connection[latest] = response
  }

  function track(connection: TrackedSocket): void {
    // Node caches the address when it is first read, and the log needs it after the connection has closed.
    void connection.remoteAddress
    connections.add(connection)
    connection.once('close', () => connections.delete(connection))
    const { destroySoon } = connection
    // Node calls this after the last response. It would reset the connection if the client is still sending
    // (nodejs/node#12339).
    connection.destroySoon = () => {
      if (connection[latest]?.req.complete) return destroySoon.call(connection)
      takeNoMore(connection)
      linger(connection, requestTimeoutMs)
    }
  }

  function refuse(inFlight: ServerResponse<IncomingMessage>): void {
    counts.pipelined++
    const connection: TrackedSocket = inFlight.req.socket
    connection[latest] = inFlight
    takeNoMore(connection)
    if (!inFlight.headersSent) inFlight.shouldKeepAlive = false
    inFlight.once('finish', () => linger(connection, responseTimeoutMs))
  }
}

function takeNoMore(connection: TrackedSocket): void {
  connection[closing] = true
  // Node would parse the rest of what it has read, which can be thousands of requests.
  const { parser } = connection
  if (parser) {
    parser.onIncoming = () => {
      parser.incoming = null
      return PARSE_NO_MORE
    }
  }
  // From now on, Node passes the bytes that it reads to this listener instead of the parser (nodejs/node#50850).
  connection.removeAllListeners('data').on('data', () => connection.pause())
  connection.pause()
  connection.destroySoon = () => {}
}

/**
 * Ends our side of a connection and discards further bytes from the client. Otherwise the connection would be reset,
 * and the client would lose the data that it has not read (RFC 9112 §9.6).
 *
 * @param lingerMs how long the client can take to close its side
 */
function linger(connection: Socket, lingerMs: number): void {
  connection.end()
  let discarded = 0
  connection.removeAllListeners('data').on('data', ({ length }: Buffer) => {
    discarded += length
    if (discarded > DISCARDED_BYTES_MAX) connection.pause()
  })
  // If a body has made the parser stop the system's reads, the stream would wait for one that never comes.
  connection.push('')
  connection.resume()
  const timer = setTimeout(() => connection.destroy(), lingerMs).unref()
  connection.once('close', () => clearTimeout(timer))
}

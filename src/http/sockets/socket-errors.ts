/** Errors for requests that have no Fastify reply, written directly to the socket. */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import { Socket } from 'node:net'
import type { RequestMetrics } from '../../observing/request-metrics.ts'
import type { Cors } from '../request/cors.ts'
import { type ApiError, toErrorResponse } from '../responses/api-error.ts'
import { commonHeaders, newRequestId } from '../responses/response.ts'
import { isClosing, latestResponse } from './one-request.ts'

type HeaderFields = Readonly<Record<string, string>>

/**
 * Rejects the latest request of a connection. Does nothing if the connection accepts no more requests, or one of its
 * requests has already been rejected. Without a `request`, rejects the latest one whose body is incomplete, or else one
 * whose head is not parsed yet.
 */
export type Reject = (connection: Socket, error: ApiError, request?: IncomingMessage) => void

/**
 * Creates a function that sends an error in place of the response to a connection's latest request and then closes the
 * connection. The error follows the responses to earlier requests. If the latest request may already have had an
 * effect, its own response is sent instead.
 *
 * @param bodyMethods methods whose operations read a body, in upper case
 * @param metrics counts the errors, if anything does
 * @param cors undefined if CORS is off
 */
export function createSocketRejecter(
  bodyMethods: ReadonlySet<string>,
  metrics?: RequestMetrics,
  cors?: Cors,
): Reject {
  // The parser repeats its error for each further chunk.
  const rejected = new WeakSet<Socket>()

  return (connection, error, rejectedRequest) => {
    if (rejected.has(connection) || isClosing(connection)) return
    rejected.add(connection)
    const response = latestResponse(connection)
    const request = rejectedRequest ?? findIncomplete(response)
    const headers = request && cors?.headersFor(request)
    const sendAndClose = (replaced?: ServerResponse) => {
      if (connection.writable) metrics?.reject(error.code, replaced)
      close(connection, error, serialize(error, headers))
    }
    if (response === undefined) return sendAndClose()
    // The malformed request comes after the latest one.
    if (response.req.complete) return afterResponse(response, () => sendAndClose())
    // The latest request is the malformed one. An operation that reads a body has not begun yet. Any other may have, so
    // its own response is sent.
    const awaitsBody = bodyMethods.has(String(response.req.method))
    if (awaitsBody && !response.headersSent) return sendAndClose(response)
    if (!response.headersSent) response.setHeader('connection', 'close')
    afterResponse(response, () => close(connection, error))
  }
}

/** The latest request, unless it was received completely. */
function findIncomplete(response: ServerResponse | undefined): IncomingMessage | undefined {
  return response?.req.complete === false ? response.req : undefined
}

/** Calls `act` once a response is sent, unless that response announced `Connection: close`. */
function afterResponse(response: ServerResponse, act: () => void): void {
  if (response.writableFinished) act()
  // Must run before Node's listener, which ends the connection if the client has half-closed it.
  else response.prependOnceListener('finish', () => response.shouldKeepAlive && act())
}

function close(connection: Socket, { code }: ApiError, response?: string): void {
  if (response !== undefined && connection.writable) connection.write(response)
  // A client that has used up its time gets no more to send the rest.
  if (code === 'request-timeout') Socket.prototype.destroySoon.call(connection)
  else connection.destroySoon()
}

function serialize(error: ApiError, added?: HeaderFields): string {
  const { status, headers, content } = rawResponse(error, added)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', content].join('\r\n')
}

/**
 * An error as a whole HTTP response, the last one of its connection.
 *
 * @param added more headers
 */
export function rawResponse(error: ApiError, added?: HeaderFields) {
  const { status, body } = toErrorResponse(error)
  const content = JSON.stringify(body)
  const headers = {
    // RFC 9110 §6.6.1
    date: new Date().toUTCString(),
    ...commonHeaders(newRequestId()),
    ...error.headers,
    ...added,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(content),
    connection: 'close',
  }
  return { status, headers, content }
}

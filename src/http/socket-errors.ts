/** Errors for requests that have no Fastify reply, written directly to the socket. */
import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type ApiError, toErrorResponse } from './api-error.ts'
import { latestResponse, replaceQueued } from './pipeline.ts'
import type { RequestMetrics } from './request-metrics.ts'
import { commonHeaders, newRequestId } from './response-headers.ts'

/** Rejects the latest request of a connection. Does nothing if one of its requests has already been rejected. */
export type Reject = (connection: Socket, error: ApiError) => void

/**
 * Creates a function that sends an error in place of the response to a connection's latest request and then closes the
 * connection. The error follows the responses to earlier requests. If the latest request may already have had an
 * effect, its own response is sent instead.
 *
 * @param bodyMethods methods whose operations read a body, in upper case
 * @param getMetrics returns what counts the errors, if anything does
 */
export function createSocketRejecter(
  bodyMethods: ReadonlySet<string>,
  getMetrics: () => RequestMetrics | undefined,
): Reject {
  // The parser repeats its error for each further chunk.
  const rejected = new WeakSet<Socket>()

  return (connection, error) => {
    if (rejected.has(connection)) return
    rejected.add(connection)
    const response = latestResponse(connection)
    const sendAndClose = (replaced?: ServerResponse) => {
      if (connection.writable) getMetrics()?.reject(error, replaced)
      close(connection, error)
    }
    if (response === undefined) return sendAndClose()
    // The malformed request comes after the latest one.
    if (response.req.complete) return afterResponse(response, () => sendAndClose())
    // The latest request is the malformed one. It must not be served if it is still queued.
    if (replaceQueued(connection, response, () => sendAndClose())) return
    // An operation that reads a body has not begun yet. Any other may have, so its own response is sent.
    const awaitsBody = bodyMethods.has(String(response.req.method))
    if (awaitsBody && !response.headersSent) return sendAndClose(response)
    if (!response.headersSent) response.setHeader('connection', 'close')
    afterResponse(response, () => close(connection))
  }
}

/** Calls `act` once a response is sent, unless that response announced `Connection: close`. */
function afterResponse(response: ServerResponse, act: () => void): void {
  if (response.writableFinished) act()
  // Must run before Node's listener, which ends the connection if the client has half-closed it.
  else response.prependOnceListener('finish', () => response.shouldKeepAlive && act())
}

function close(connection: Socket, error?: ApiError): void {
  if (error !== undefined && connection.writable) connection.write(serialize(error))
  connection.destroySoon()
}

function serialize(error: ApiError): string {
  const { status, headers, content } = rawResponse(error)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', content].join('\r\n')
}

/** An error as a whole HTTP response, the last one of its connection. */
export function rawResponse(error: ApiError) {
  const { status, body } = toErrorResponse(error)
  const content = JSON.stringify(body)
  const headers = {
    ...commonHeaders(newRequestId()),
    ...error.headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(content),
    connection: 'close',
  }
  return { status, headers, content }
}

import {
  METHODS,
  maxHeaderSize,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import { ApiError, errorOf } from './api-error.ts'
import { limitChunks } from './chunk-limit.ts'
import { latestResponse, replaceWaiting } from './connections.ts'
import { commonHeaders, newRequestId } from './response-headers.ts'

const METHOD_NAMES = new Set(METHODS)

/** Methods whose operations read a body. */
const BODY_METHODS = ['POST', 'PUT', 'PATCH']

/** Connections already rejected. The parser reports an error again for each further chunk. */
const refused = new WeakSet<Socket>()

/**
 * Answers requests that Node's parser rejects with the contract's Error, written directly to the connection, which is
 * then closed. The response follows those to earlier requests and never replaces one.
 *
 * @param requestTimeout in milliseconds
 */
export function answerClientErrors(requestTimeout: number) {
  return ({ code }: NodeJS.ErrnoException, connection: Socket): void =>
    refuse(connection, failureOf(code, requestTimeout))
}

/** Answers CONNECT, which Node would otherwise drop without a word: we are no proxy. */
export function refuseConnect(_request: unknown, connection: Socket): void {
  // Node has removed its own listener. Without one, a reset by the client would crash the process.
  connection.on('error', () => connection.destroy())
  refuse(
    connection,
    new ApiError('malformed-request', 'CONNECT is not supported: this server is not a proxy'),
  )
}

/**
 * Answers requests with a method that Node's parser knows and its list of methods does not, such as PRI or those of
 * RTSP. No route can match them, not even Fastify's own for unknown paths.
 */
export function refuseUnknownMethods(server: Server): void {
  const [serve] = server.listeners('request') as [RequestListener]
  server.off('request', serve).on('request', (request, response) => {
    const { method = '' } = request
    if (METHOD_NAMES.has(method)) {
      serve(request, response)
    } else {
      const failure = new ApiError('malformed-request', `${method} is not an HTTP method`)
      const { status, headers, content } = responseTo(failure)
      response.writeHead(status, headers).end(content)
    }
  })
}

/** Refuses a body in chunks that are too small on average. */
export function refuseTinyChunks(server: Server): void {
  server.prependListener('request', (request) => {
    if (request.headers['transfer-encoding'] === undefined) return
    const failure = new ApiError('malformed-request', 'the chunks of the body are too small')
    limitChunks(request, () => {
      refuse(request.socket, failure)
      request.socket.pause()
    })
  })
}

function refuse(connection: Socket, failure: ApiError) {
  if (refused.has(connection)) return
  refused.add(connection)
  const response = latestResponse(connection)
  const end = () => close(connection, failure)
  if (response === undefined) return end()
  // The malformed request comes after the latest one.
  if (response.req.complete) return afterResponse(response, end)
  // The latest request is the malformed one. It must not be served if it is still queued.
  if (replaceWaiting(connection, response, end)) return
  // Without its body an operation that needs one has not begun. Any other may have, so its response counts.
  const awaitsBody = BODY_METHODS.includes(response.req.method as string)
  if (awaitsBody && !response.headersSent) return end()
  if (!response.headersSent) response.setHeader('connection', 'close')
  afterResponse(response, () => close(connection))
}

/** Calls `act` once a response is sent, unless that response announced `Connection: close`. */
function afterResponse(response: ServerResponse, act: () => void): void {
  if (response.writableFinished) act()
  // Must run before Node's listener, which ends the connection if the client has half-closed it.
  else response.prependOnceListener('finish', () => response.shouldKeepAlive && act())
}

function close(connection: Socket, failure?: ApiError): void {
  if (failure !== undefined && connection.writable) connection.write(rawResponse(failure))
  connection.destroySoon()
}

function failureOf(code: string | undefined, requestTimeout: number): ApiError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError(
        'request-timeout',
        `the request did not arrive within ${requestTimeout / 1000} s`,
      )
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError(
        'headers-too-large',
        `the request line and headers must not exceed ${maxHeaderSize} bytes`,
      )
    default:
      return new ApiError('malformed-request', 'the request is not well-formed HTTP/1.1')
  }
}

function rawResponse(failure: ApiError): string {
  const { status, headers, content } = responseTo(failure)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', content].join('\r\n')
}

function responseTo(failure: ApiError) {
  const { status, body } = errorOf(failure)
  const content = JSON.stringify(body)
  const headers = {
    ...commonHeaders(newRequestId()),
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(content),
    connection: 'close',
  }
  return { status, headers, content }
}

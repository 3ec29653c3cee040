/** Requests rejected before Fastify sees them, because Node's parser or the framework would mishandle them. */
import {
  type IncomingMessage,
  METHODS,
  maxHeaderSize,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import type { Cors } from '../request/cors.ts'
import { unsupportedVersion } from '../request/request-head.ts'
import { ApiError } from '../responses/api-error.ts'
import { type Reject, rawResponse } from './socket-errors.ts'

const METHOD_NAMES = new Set(METHODS)

/** Each parsed field takes a hundred bytes of memory, however short it is. */
export const HEADER_FIELDS_MAX = 100

/** How many chunks of any size a body can have before their average size counts. */
const FREE_CHUNKS = 128

/** The minimum average size of a body's chunks after that. */
const CHUNK_BYTES_MIN = 64

interface ParserError extends NodeJS.ErrnoException {
  /** What the parser expected. */
  readonly reason?: string
}

/** A `clientErrorHandler` for Fastify: rejects requests that Node's parser gives up on. */
export function rejectParserErrors(reject: Reject, requestTimeoutMs: number) {
  return (error: ParserError, connection: Socket): void =>
    reject(connection, parserError(error, requestTimeoutMs))
}

function parserError({ code, reason }: ParserError, requestTimeoutMs: number): ApiError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError(
        'request-timeout',
        `the request did not arrive within ${requestTimeoutMs / 1000} s`,
      )
    // The parser also reports this for a thousand fields, however short they are.
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError(
        'headers-too-large',
        `the request line and headers must not exceed ${maxHeaderSize} bytes or ${HEADER_FIELDS_MAX} header fields`,
      )
    case 'HPE_INVALID_METHOD':
      return new ApiError(
        'malformed-request',
        'the request does not start with a known HTTP method; methods are case-sensitive',
      )
    case 'HPE_INVALID_VERSION':
      return new ApiError(
        'malformed-request',
        reason === 'Expected HTTP/2 Connection Preface'
          ? 'PRI is only for the start of HTTP/2, which is not supported'
          : 'the request line must end with HTTP/1.1 or HTTP/1.0, and CR LF',
      )
    case 'HPE_CR_EXPECTED':
      return new ApiError('malformed-request', 'lines must end with CR LF, not with LF alone')
    // The start of HTTP/2 without TLS (RFC 9113 §3.4).
    case 'HPE_PAUSED_H2_UPGRADE':
      return unsupportedVersion('2.0')
    default:
      return new ApiError('malformed-request', 'the request is not well-formed HTTP/1.1')
  }
}

/** Rejects CONNECT. Node would close the connection without a response. */
export function rejectConnect(server: Server, reject: Reject): void {
  const error = new ApiError(
    'malformed-request',
    'CONNECT is not supported: this server is not a proxy',
  )
  server.on('connect', (request) => {
    const { socket } = request
    // Node has removed its own listener. Without one, a reset by the client would crash the process.
    socket.on('error', () => socket.destroy())
    reject(socket, error, request)
  })
}

/**
 * Responds to a request that no route can match or that has too many header fields, and closes its connection. Returns
 * whether it did.
 */
export function rejectHead(request: IncomingMessage, response: ServerResponse, cors?: Cors) {
  const error = headError(request)
  if (error === undefined) return false
  const { status, headers, content } = rawResponse(error, cors?.headersFor(request))
  response.writeHead(status, headers).end(content)
  return true
}

function headError({ method = '', rawHeaders }: IncomingMessage): ApiError | undefined {
  // Node's parser accepts methods that its list omits, such as PRI and those of RTSP. Not even Fastify's route for
  // unknown paths matches them.
  if (!METHOD_NAMES.has(method)) {
    return new ApiError('malformed-request', `${method} is not a method of HTTP/1.1`)
  }
  if (rawHeaders.length <= 2 * HEADER_FIELDS_MAX) return undefined
  const message = `a request must not have more than ${HEADER_FIELDS_MAX} header fields`
  return new ApiError('headers-too-large', message)
}

/** Rejects a body in chunks that are too small on average. */
export function rejectTinyChunks(request: IncomingMessage, reject: Reject): void {
  if (request.headers['transfer-encoding'] === undefined) return
  const error = new ApiError('malformed-request', 'the chunks of the body are too small')
  limitChunks(request, () => {
    // Until the connection closes, which can be after its response.
    request.socket.pause()
    reject(request.socket, error)
  })
}

/**
 * Checks the chunks of a body as they arrive, before anything reads them: each one takes 0.4 kB of memory and a few
 * microseconds, even if it holds a single byte.
 *
 * @param reject called once if the chunks are too small; all further chunks are dropped
 */
function limitChunks(request: IncomingMessage, reject: () => void): void {
  const { push } = request
  let chunks = 0
  let bytes = 0
  let rejected = false
  // Node's parser delivers each chunk through this method.
  request.push = (chunk: Buffer | null, ...rest) => {
    // After false, Node would pause the connection.
    if (rejected) return true
    chunks++
    bytes += chunk?.length ?? 0
    if (chunk === null || chunks <= FREE_CHUNKS || bytes >= chunks * CHUNK_BYTES_MIN) {
      return push.call(request, chunk, ...rest)
    }
    rejected = true
    reject()
    return true
  }
}

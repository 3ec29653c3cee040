import { maxHeaderSize, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { latestResponse, replaceWaiting } from './connections.ts'
import { errorOf, Failure } from './failure.ts'
import { commonHeaders, newRequestId } from './response-headers.ts'

/** Connections that get no further response: the parser reports each further piece of them as well. */
const refused = new WeakSet<Socket>()

/**
 * Answers what Node's parser rejects before there is a request: with the contract's Error, written straight
 * to the connection, which is then closed. It comes after the responses to the requests before it, and never
 * in place of one.
 *
 * @param requestTimeout in milliseconds
 */
export function answerClientErrors(requestTimeout: number) {
  return ({ code }: NodeJS.ErrnoException, connection: Socket): void =>
    refuse(connection, failureOf(code, requestTimeout))
}

/** Answers CONNECT, which Node would otherwise drop without a word: we are no proxy. */
export function refuseConnect(_request: unknown, connection: Socket): void {
  // Node has removed its own listener, and without any a reset by the client would end the process.
  connection.on('error', () => connection.destroy())
  refuse(connection, new Failure('malformed-request', 'the method CONNECT is for proxies'))
}

function refuse(connection: Socket, failure: Failure) {
  if (refused.has(connection)) return
  refused.add(connection)
  const response = latestResponse(connection)
  const end = () => close(connection, failure)
  if (response === undefined) return end()
  // What is malformed is the request after the latest one.
  if (response.req.complete) return afterResponse(response, end)
  // It is the latest one, which must not be served if it still waits for its turn.
  if (replaceWaiting(connection, response, end)) return
  if (response.headersSent) afterResponse(response, () => close(connection))
  else end()
}

/** Acts when a response is sent, unless the client was told that it is the last one. */
function afterResponse(response: ServerResponse, act: () => void): void {
  if (response.writableFinished) act()
  // Before Node's own listener, which ends the connection if the client has ended its side.
  else response.prependOnceListener('finish', () => response.shouldKeepAlive && act())
}

function close(connection: Socket, failure?: Failure): void {
  if (failure !== undefined && connection.writable) connection.write(rawResponse(failure))
  connection.destroySoon()
}

function failureOf(code: string | undefined, requestTimeout: number): Failure {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Failure(
        'request-timeout',
        `the request did not arrive within ${requestTimeout / 1000} s`,
      )
    case 'HPE_HEADER_OVERFLOW':
      return new Failure(
        'headers-too-large',
        `the request line and headers must not be larger than ${maxHeaderSize} bytes`,
      )
    default:
      return new Failure('malformed-request', 'the request is not well-formed HTTP/1.1')
  }
}

function rawResponse(failure: Failure): string {
  const { status, body } = errorOf(failure)
  const content = JSON.stringify(body)
  const headers = {
    ...commonHeaders(newRequestId()),
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(content),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', content].join('\r\n')
}

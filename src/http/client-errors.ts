import {
  type IncomingMessage,
  maxHeaderSize,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import type { Config } from '../config.ts'
import { errorOf, Failure } from './failure.ts'

const latest = Symbol('the response to the latest request of a connection')

type Connection = Socket & { [latest]?: ServerResponse<IncomingMessage> }

/**
 * Answers what Node's parser refuses, before there is a request: with the contract's Error, written
 * straight to the connection, which is closed behind it. Never in the place of an answer that is
 * under way.
 */
export function answerClientErrors({ requestTimeout }: Config) {
  return (error: NodeJS.ErrnoException, connection: Connection): void => {
    const refuse = () => close(connection, failureOf(error.code, requestTimeout))
    const response = latestResponse(connection)
    const inBody = response?.req.complete === false
    if (inBody && response.headersSent) close(connection)
    else if (inBody || (response?.writableFinished ?? true)) refuse()
    else response?.once('finish', refuse)
  }
}

/** What `latestResponse` has to know of the requests that the parser lets through. */
export function watchConnections(server: Server): void {
  server.prependListener('request', (request, response) => {
    const connection: Connection = request.socket
    connection[latest] = response
  })
}

/** To the latest request of a connection, whether it is under way or ended; if there was one. */
export function latestResponse(connection: Connection): ServerResponse | undefined {
  return connection[latest]
}

/** Answers CONNECT, which Node would otherwise drop without a word: we are no proxy. */
export function refuseConnect(_request: unknown, connection: Socket): void {
  close(connection, new Failure('malformed-request', 'the method CONNECT is for proxies'))
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
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(content)}`,
    'Connection: close',
    '',
    content,
  ].join('\r\n')
}

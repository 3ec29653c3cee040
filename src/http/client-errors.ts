import { maxHeaderSize, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Config } from '../config.ts'
import { latestResponse } from './connections.ts'
import { errorOf, Failure } from './failure.ts'

/** Refused behind the answer that is under way, once: the parser refuses each further part that comes. */
const refused = new WeakSet<Socket>()

/**
 * Answers what Node's parser refuses, before there is a request: with the contract's Error, written
 * straight to the connection, which is closed behind it. Never in the place of an answer that is
 * under way.
 */
export function answerClientErrors({ requestTimeout }: Config) {
  return (error: NodeJS.ErrnoException, connection: Socket): void => {
    const refuse = () => close(connection, failureOf(error.code, requestTimeout))
    const response = latestResponse(connection)
    const inBody = response?.req.complete === false
    if (inBody && response.headersSent) close(connection)
    else if (inBody || (response?.writableFinished ?? true)) refuse()
    else if (!refused.has(connection)) {
      refused.add(connection)
      response?.once('finish', refuse)
    }
  }
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

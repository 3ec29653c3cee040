import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Config } from '../config.ts'
import { errorOf, Failure } from './failure.ts'

/**
 * Answers what Node's parser refuses, before there is a request: with the contract's Error, written
 * straight to the socket, which is closed behind it.
 */
export function answerClientErrors({ requestTimeout }: Config) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (socket.writable) socket.write(rawResponse(failureOf(error.code, requestTimeout)))
    socket.destroySoon()
  }
}

/** Answers CONNECT, which Node would otherwise drop without a word: we are no proxy. */
export function refuseConnect(_request: unknown, socket: Socket): void {
  socket.end(rawResponse(new Failure('malformed-request', 'the method CONNECT is for proxies')))
}

function failureOf(code: string | undefined, requestTimeout: number): Failure {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Failure(
        'request-timeout',
        `the request did not arrive within ${requestTimeout / 1000} s`,
      )
    case 'HPE_HEADER_OVERFLOW':
      return new Failure('headers-too-large', 'the request line and headers are too large')
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

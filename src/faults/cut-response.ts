import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Fault } from './fault.ts'

/** The end of each change in a page. In JSON, a quote in a string follows a backslash. */
const CHANGE_END = /\}(?=,\{"cursor":|\]$)/g

/** An event of a stream, but not a comment. */
const EVENT = /^id: .*\ndata: .*\n\n/gm

/**
 * Makes a response close its connection, by replacing its methods. What sends the response notices only that the client
 * has gone.
 */
export function cutResponse(response: ServerResponse, fault: Fault): void {
  const { cut, events = 0 } = fault
  const close = () => closeConnection(response.req.socket, fault)
  if (cut === 'before-response') {
    response.writeHead = () => {
      silence(response)
      close()
      return response
    }
    return
  }
  const { write, end } = response
  const sendPart = (part: Buffer) => {
    silence(response)
    response.flushHeaders()
    write.call(response, part, 'utf8', close)
  }
  let left = events
  /** Where to cut bytes, given where half of what matters ends and where events do. Undefined if not in these. */
  const cutAt = (bytes: Buffer, half: number | undefined, ends: readonly number[]) => {
    if (cut === 'in-body') return half
    return cut === 'in-character' ? middleOfCharacter(bytes) : ends[left - 1]
  }
  // Only streams use it.
  response.write = (chunk: Buffer) => {
    const ends = endsOf(toBinary(chunk).matchAll(EVENT))
    const length = cutAt(chunk, ends[0] && ends[0] / 2, ends)
    if (length !== undefined) {
      sendPart(chunk.subarray(0, length))
      return false
    }
    left -= ends.length
    return write.call(response, chunk, 'utf8')
  }
  response.end = (body?: unknown) => {
    const bytes = Buffer.from(typeof body === 'string' ? body : '')
    const length = cutAt(bytes, bytes.length / 2, endsOf(toBinary(bytes).matchAll(CHANGE_END)))
    const hasBody = bytes.length > 0 && response.req.method !== 'HEAD'
    if (hasBody && length !== undefined) sendPart(bytes.subarray(0, length))
    else end.call(response, bytes, 'utf8')
    return response
  }
}

/** Closes a connection as a cut does. */
export function closeConnection(connection: Socket, { reset }: Fault): void {
  // Node cannot reset a connection on top of another.
  if (reset && !(connection instanceof TLSSocket)) connection.resetAndDestroy()
  else connection.destroy()
}

/** The length up to the middle of the first character that has several bytes in UTF-8; undefined if there is none. */
function middleOfCharacter(bytes: Buffer): number | undefined {
  const start = bytes.findIndex((byte) => byte >= 0x80)
  return start === -1 ? undefined : start + 1
}

/** Ignores what is written to a response from now on. */
function silence(response: ServerResponse): void {
  response.write = () => false
  response.end = () => response
}

/** Text with one character for each byte, so that the positions of matches are those of bytes. */
function toBinary(bytes: Buffer): string {
  return bytes.toString('latin1')
}

function endsOf(matches: Iterable<RegExpExecArray>): number[] {
  return Array.from(matches, ({ index, 0: match }) => index + match.length)
}

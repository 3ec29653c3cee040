import type { ServerResponse } from 'node:http'
import type { Fault } from './fault.ts'

/** The end of each change in a page. In JSON, a quote in a string follows a backslash. */
const CHANGE_END = /\}(?=,\{"cursor":|\]$)/g

/** An event of a stream, but not a comment. */
const EVENT = /^id: .*\ndata: .*\n\n/gm

/**
 * Makes a response close its connection, by replacing its methods. What sends the response notices only that the client
 * has gone.
 */
export function cutResponse(response: ServerResponse, { cut, events = 0 }: Fault): void {
  if (cut === 'before-response') {
    response.writeHead = () => {
      silence(response)
      response.req.socket.destroy()
      return response
    }
    return
  }
  const { write, end } = response
  const sendPart = (part: Buffer) => {
    silence(response)
    response.flushHeaders()
    write.call(response, part, 'utf8', () => response.req.socket.destroy())
  }
  let left = events
  // Only streams use it.
  response.write = (chunk: Buffer) => {
    const ends = endsOf(toBinary(chunk).matchAll(EVENT))
    if (cut === 'in-body' && ends[0] !== undefined) {
      sendPart(chunk.subarray(0, ends[0] / 2))
      return false
    }
    const last = ends[left - 1]
    if (last !== undefined) {
      sendPart(chunk.subarray(0, last))
      return false
    }
    left -= ends.length
    return write.call(response, chunk, 'utf8')
  }
  response.end = (body?: unknown) => {
    const bytes = Buffer.from(typeof body === 'string' ? body : '')
    const length =
      cut === 'in-body'
        ? bytes.length / 2
        : endsOf(toBinary(bytes).matchAll(CHANGE_END))[events - 1]
    const hasBody = bytes.length > 0 && response.req.method !== 'HEAD'
    if (hasBody && length !== undefined) sendPart(bytes.subarray(0, length))
    else end.call(response, bytes, 'utf8')
    return response
  }
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

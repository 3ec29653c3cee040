import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'

/** What proxies and captive portals send instead of a response. */
const HTML = '<!DOCTYPE html>\n<title>502 Bad Gateway</title>\n<h1>502 Bad Gateway</h1>\n'

/** Makes the body of a response a page in HTML. Returns the page. */
export function toHtml(reply: FastifyReply): string {
  reply.header('content-type', 'text/html').removeHeader('content-length')
  return HTML
}

/**
 * Makes a response send its body one byte at a time, by replacing its methods.
 *
 * @param signal makes it send the rest at once
 */
export function dripResponse(response: ServerResponse, dripMs: number, signal: AbortSignal): void {
  const { write, end } = response
  const drip = async (bytes: Buffer) => {
    for (let index = 0; index < bytes.length && !response.closed; index++) {
      write.call(response, bytes.subarray(index, index + 1), 'utf8')
      await wait(dripMs, undefined, { signal }).catch(() => {})
    }
  }
  let dripped = Promise.resolve()
  // Only streams use it. They wait for the event before they write more.
  response.write = (chunk: Buffer) => {
    dripped = dripped.then(() => drip(chunk)).then(() => void response.emit('drain'))
    return false
  }
  response.end = (body?: unknown) => {
    const hasBody = typeof body === 'string' && response.req.method !== 'HEAD'
    dripped
      .then(() => drip(Buffer.from(hasBody ? body : '')))
      .then(() => end.call(response, '', 'utf8'))
    return response
  }
}

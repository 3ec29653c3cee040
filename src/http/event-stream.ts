/** Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
import { once } from 'node:events'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { type ByteBudget, SMALL_MESSAGE_BYTES } from './byte-budget.ts'
import { toApiError } from './error-handler.ts'
import type { Followers } from './followers.ts'

const EVENT_STREAM = 'text/event-stream'

/** How many seconds without an event until a comment keeps proxies from closing the connection. */
export const COMMENT_INTERVAL_SECONDS = 15

/** How many events are read and written at a time. The same for all streams, so that they share them. */
export const STREAM_PAGE_LIMIT = 100

const COMMENT = Buffer.from(':\n\n')

/** How long a stream waits before it tries again to get memory for its next events. */
const BUDGET_RETRY_MS = 100

/** Between the two comments that show whether a client that has closed its side is still there. */
const PROBE_DELAY_MS = 1000

export const EVENT_STREAM_HEADERS = {
  'content-type': EVENT_STREAM,
  // nginx would otherwise buffer the events.
  'x-accel-buffering': 'no',
}

/** A page of a stream, which becomes one event for each item. */
export interface StreamPage {
  readonly items: readonly Item[]
  /** The position after the page. */
  readonly next: string
}

/** What becomes an event. */
export interface Item {
  readonly cursor: string
}

export interface StreamSource {
  /** The position before the first page. */
  readonly start: string | undefined
  readonly first: StreamPage
  /** Reads the page after a position. An empty one becomes a comment. Undefined ends the stream. */
  readonly readNext: (
    position: string | undefined,
    signal: AbortSignal,
  ) => Promise<StreamPage | undefined>
  /** Formats a page as events. Streams that send the same page can share the bytes. */
  readonly format: (items: readonly Item[]) => Buffer
}

/** Whether a request prefers a stream to JSON. */
export function prefersEvents({ headers }: FastifyRequest): boolean {
  const { accept } = headers
  // Most requests accept anything or nothing in particular, and need no parser.
  if (accept === undefined || accept === '*/*') return false
  return new Negotiator({ headers }).mediaType(['application/json', EVENT_STREAM]) === EVENT_STREAM
}

/**
 * Creates a function that formats items as events. Streams that send the same items share the bytes.
 *
 * @param serialize formats an item as JSON
 */
export function eventFormatter(serialize: (item: Item) => string): StreamSource['format'] {
  const formatted = new WeakMap<readonly Item[], Buffer>()
  return (items) => {
    const known = formatted.get(items)
    if (known !== undefined) return known
    const events = items.map((item) => `id: ${item.cursor}\ndata: ${serialize(item)}\n\n`)
    const bytes = Buffer.from(events.join(''))
    formatted.set(items, bytes)
    return bytes
  }
}

/**
 * Sends a stream until it ends or its follower must stop. Reads a page only once the client has read the previous one.
 * Large pages count towards the budget for responses.
 *
 * Writes to the socket itself, because Fastify logs each stream whose client disconnects. @fastify/sse does so too. It
 * also writes comments to clients that do not read, formats each event for each client, sets a timer for each, and
 * overwrites `Cache-Control` and `Connection`.
 */
export async function sendEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  { start, first, readNext, format }: StreamSource,
  followers: Followers,
): Promise<void> {
  const { raw: response, server } = reply
  reply.hijack()
  server.logWhenClosed?.(request, reply)
  let probe: NodeJS.Timeout | undefined
  const follower = followers.joinStream(request, reply, () => {
    // If the client has gone away, its system rejects this comment, which only the next write notices.
    response.write(COMMENT)
    probe = setTimeout(() => response.write(COMMENT), PROBE_DELAY_MS).unref()
  })
  const { signal } = follower
  // After the stream, its connection is of no use, and a service that stops must not wait for it.
  const headers = reply.headers({ ...EVENT_STREAM_HEADERS, connection: 'close' }).getHeaders()
  response.writeHead(200, headers as OutgoingHttpHeaders)
  try {
    let position = start
    let page: StreamPage | undefined = first
    while (page !== undefined && !signal.aborted) {
      const chunk = page.items.length === 0 ? COMMENT : format(page.items)
      if (await write(response, chunk, server.responseBudget, signal)) position = page.next
      page = await readNext(position, signal)
    }
  } catch (error) {
    // The client gets the error when it resumes the stream.
    toApiError(error, request)
  }
  follower.leave()
  clearTimeout(probe)
  response.end()
}

/** Writes a chunk and waits until the client has read it. Returns false, after a while, if the budget is used up. */
async function write(
  response: ServerResponse,
  chunk: Buffer,
  budget: ByteBudget,
  signal: AbortSignal,
): Promise<boolean> {
  const bytes = chunk.length > SMALL_MESSAGE_BYTES ? chunk.length : 0
  if (!budget.take(bytes)) {
    await delay(BUDGET_RETRY_MS, undefined, { signal }).catch(() => {})
    return false
  }
  if (!response.write(chunk)) await once(response, 'drain', { signal }).catch(() => {})
  budget.release(bytes)
  return true
}

/** Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
import { once } from 'node:events'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Change, ChangePage } from '../../../service/store/change-feed.ts'
import { preferredType } from '../responses/accept.ts'
import { type Share, SMALL_MESSAGE_BYTES } from '../responses/byte-budget.ts'
import { toApiError } from '../responses/error-handler.ts'
import type { Followers } from './followers.ts'

const EVENT_STREAM = 'text/event-stream'

/** The types that a client can choose from. Both are always UTF-8, so `Accept` can name that charset. */
const ACCEPTABLE = [`application/json;charset=utf-8`, `${EVENT_STREAM};charset=utf-8`]

/** After this many seconds without an event, a comment keeps proxies from closing the connection. */
export const COMMENT_INTERVAL_SECONDS = 15

/** How many events are read and written at a time. All streams use the same number, so that they can share pages. */
export const STREAM_PAGE_LIMIT = 100

const COMMENT = Buffer.from(':\n\n')

/** Milliseconds to wait for memory, multiplied by the number of open streams. */
const RETRY_MS = 50

/** Formatting pages takes all streams together at most 1/TIME_DIVISOR of a thread's time, on average. */
const TIME_DIVISOR = 4

const PAUSE_MS_MAX = 5000

/** The delay between the two comments that show whether a client that has closed its side is still connected. */
const PROBE_DELAY_MS = 1000

export const EVENT_STREAM_HEADERS = {
  'content-type': EVENT_STREAM,
  // nginx would otherwise buffer the events.
  'x-accel-buffering': 'no',
}

type ReadNext = (cursor: string | undefined, signal: AbortSignal) => Promise<ChangePage | undefined>

export interface StreamPages {
  /** The cursor before the first page. */
  readonly start: string | undefined
  /** Reads the page after a cursor. An empty one becomes a comment. Undefined ends the stream. */
  readonly readNext: ReadNext
  /** Formats a page, with one event for each change. Streams that send the same page can share the bytes. */
  readonly format: (changes: readonly Change[]) => Buffer
}

/** The response of a stream, and the memory reserved for it. */
interface Output {
  readonly response: ServerResponse
  readonly share: Share
  readonly signal: AbortSignal
}

/** Where and when a stream continues. */
interface NextRead {
  /** The cursor before the next page. */
  readonly cursor: string | undefined
  /** Milliseconds to wait before reading it, multiplied by the number of open streams. */
  readonly pauseMs: number
}

/** Whether a request prefers a stream to JSON. */
export function prefersEvents({ headers }: FastifyRequest): boolean {
  return preferredType(headers, ACCEPTABLE) === ACCEPTABLE[1]
}

/**
 * Creates a function that formats changes as events. Streams that send the same changes share the bytes.
 *
 * @param serialize formats a change as JSON
 */
export function eventFormatter(serialize: (change: Change) => string): StreamPages['format'] {
  const formatted = new WeakMap<readonly Change[], Buffer>()
  return (changes) => {
    const earlier = formatted.get(changes)
    if (earlier !== undefined) return earlier
    const events = changes.map((change) => `id: ${change.cursor}\ndata: ${serialize(change)}\n\n`)
    const bytes = Buffer.from(events.join(''))
    formatted.set(changes, bytes)
    return bytes
  }
}

/**
 * Sends a stream until it ends or its follower must stop. Reads a page only once the client has read the previous one.
 * Large pages count towards the budget for responses. While the budget is used up, the stream keeps no page, and reads
 * its page again later. The more streams there are, the longer each one pauses after it has formatted a page, so that
 * they leave time for other requests.
 *
 * Writes to the socket itself, because Fastify logs each stream whose client disconnects. @fastify/sse writes to the
 * socket too, but it also writes comments to clients that do not read, formats each event for each client, sets a timer
 * for each client, and overwrites `Cache-Control`.
 */
export async function sendEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  pages: StreamPages,
  followers: Followers,
): Promise<undefined> {
  const { raw: response, server } = reply
  reply.hijack()
  server.logWhenClosed?.(request, reply)
  let probe: NodeJS.Timeout | undefined
  const onHalfClose = () => {
    // If the client has gone away, its system rejects this comment, and only the next write fails.
    response.write(COMMENT)
    probe = setTimeout(() => response.write(COMMENT), PROBE_DELAY_MS).unref()
  }
  const follower = followers.joinStream(request, reply, onHalfClose)
  const share = server.responseBudget.share(() => response.destroy())
  const { signal } = follower
  response.writeHead(200, reply.headers(EVENT_STREAM_HEADERS).getHeaders() as OutgoingHttpHeaders)
  if (request.raw.socket.readableEnded) onHalfClose()
  try {
    let next: NextRead | undefined = { cursor: pages.start, pauseMs: 0 }
    while (next !== undefined && !signal.aborted) {
      next = await sendPage(pages, next.cursor, { response, share, signal })
      const pauseMs = Math.min((next?.pauseMs ?? 0) * followers.streams, PAUSE_MS_MAX)
      await delay(pauseMs, undefined, { signal }).catch(() => {})
    }
  } catch (error) {
    // The client gets the error when it resumes the stream.
    toApiError(error, request)
  }
  follower.leave()
  clearTimeout(probe)
  if (response.closed) share.release()
  // The client may not have read everything.
  else response.once('close', () => share.release()).end()
  return undefined
}

/** Sends a page and waits until the client has read it. If it does not fit into memory, it is not sent. */
async function sendPage(
  pages: StreamPages,
  cursor: string | undefined,
  { response, share, signal }: Output,
): Promise<NextRead | undefined> {
  share.release()
  const part = await readPart(pages, cursor, signal)
  if (part === undefined) return undefined
  const { chunk, next, pauseMs } = part
  if (chunk.length > SMALL_MESSAGE_BYTES && !share.take(chunk.length)) {
    response.write(COMMENT)
    return { cursor, pauseMs: RETRY_MS }
  }
  if (!response.write(chunk)) await once(response, 'drain', { signal }).catch(() => {})
  return { cursor: next, pauseMs }
}

/** Reads and formats a page. This is a separate function, so that a stream does not keep the page while it is sent. */
async function readPart({ readNext, format }: StreamPages, ...from: Parameters<ReadNext>) {
  const page = await readNext(...from)
  if (page === undefined) return undefined
  const begin = performance.now()
  const chunk = page.changes.length === 0 ? COMMENT : format(page.changes)
  // Random, so that streams do not all continue in the same turn of the event loop.
  const pauseMs = (performance.now() - begin) * TIME_DIVISOR * 2 * Math.random()
  return { chunk, next: page.next, pauseMs }
}

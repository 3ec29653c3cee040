/** Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
import { once } from 'node:events'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { toApiError } from './error-handler.ts'
import type { Followers } from './followers.ts'
import { Reservation } from './reservation.ts'

const EVENT_STREAM = 'text/event-stream'

/** What a client can prefer. Both are always UTF-8, so `Accept` can name that charset. */
const ACCEPTABLE = [`application/json;charset=utf-8`, `${EVENT_STREAM};charset=utf-8`]

/** After this many seconds without an event, a comment keeps proxies from closing the connection. */
export const COMMENT_INTERVAL_SECONDS = 15

/** How many events are read and written at a time. All streams use the same number, so that they can share pages. */
export const STREAM_PAGE_LIMIT = 100

const COMMENT = Buffer.from(':\n\n')

/** The delay between the two comments that show whether a client that has closed its side is still connected. */
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

/** A part of a page that is sent as one event. */
export interface Item {
  readonly cursor: string
}

type ReadNext = (
  position: string | undefined,
  signal: AbortSignal,
) => Promise<StreamPage | undefined>

export interface StreamSource {
  /** The position before the first page. */
  readonly start: string | undefined
  /** Reads the page after a position. An empty one becomes a comment. Undefined ends the stream. */
  readonly readNext: ReadNext
  /** Formats a page as events. Streams that send the same page can share the bytes. */
  readonly format: (items: readonly Item[]) => Buffer
}

/** The response of a stream, and the memory reserved for it. */
interface Output {
  readonly response: ServerResponse
  readonly reservation: Reservation
  readonly signal: AbortSignal
}

/** The progress of a stream. */
interface Progress {
  /** The position before the next page. */
  readonly position: string | undefined
  /** The size of the next page if it did not fit into memory, or else 0. */
  readonly bytes: number
}

/** Whether a request prefers a stream to JSON. */
export function prefersEvents({ headers }: FastifyRequest): boolean {
  const { accept } = headers
  // Most requests have no `Accept` or `*/*`, and need no parser.
  if (accept === undefined || accept === '*/*') return false
  return new Negotiator({ headers }).mediaType(ACCEPTABLE) === ACCEPTABLE[1]
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
 * Large pages count towards the budget for responses. While the budget is used up, the stream keeps no page, and reads
 * its page again later.
 *
 * Writes to the socket itself, because Fastify logs each stream whose client disconnects. @fastify/sse writes to the
 * socket too, but it also writes comments to clients that do not read, formats each event for each client, sets a timer
 * for each client, and overwrites `Cache-Control`.
 */
export async function sendEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  source: StreamSource,
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
  const reservation = new Reservation(server.responseBudget)
  const output = { response, reservation, signal: follower.signal }
  response.writeHead(200, reply.headers(EVENT_STREAM_HEADERS).getHeaders() as OutgoingHttpHeaders)
  if (request.raw.socket.readableEnded) onHalfClose()
  try {
    let progress: Progress | undefined = { position: source.start, bytes: 0 }
    while (progress !== undefined && (await waitForMemory(progress, output))) {
      progress = await sendPage(source, progress.position, output)
    }
  } catch (error) {
    // The client gets the error when it resumes the stream.
    toApiError(error, request)
  }
  follower.leave()
  clearTimeout(probe)
  const release = () => reservation.resize(0)
  if (response.closed) release()
  // The client may not have read everything.
  else response.once('close', release).end()
  return undefined
}

/** Waits until a page fits into memory. Meanwhile, comments show that the stream is open. */
async function waitForMemory(
  { bytes }: Progress,
  { response, reservation, signal }: Output,
): Promise<boolean> {
  if (bytes === 0) return reservation.wait(bytes, signal)
  response.write(COMMENT)
  const timer = setInterval(() => response.write(COMMENT), COMMENT_INTERVAL_SECONDS * 1000)
  const fits = await reservation.wait(bytes, signal)
  clearInterval(timer)
  return fits
}

/** Sends a page and waits until the client has read it. If it does not fit into memory, it is not sent. */
async function sendPage(
  source: StreamSource,
  position: string | undefined,
  { response, reservation, signal }: Output,
): Promise<Progress | undefined> {
  const part = await readPart(source, position, signal)
  if (part === undefined) return undefined
  const { chunk, next } = part
  if (!reservation.resize(chunk.length)) return { position, bytes: chunk.length }
  if (!response.write(chunk)) await once(response, 'drain', { signal }).catch(() => {})
  return { position: next, bytes: 0 }
}

/** Reads and formats a page. This is a separate function, so that a stream does not keep the page while it is sent. */
async function readPart({ readNext, format }: StreamSource, ...from: Parameters<ReadNext>) {
  const page = await readNext(...from)
  if (page === undefined) return undefined
  return { chunk: page.items.length === 0 ? COMMENT : format(page.items), next: page.next }
}

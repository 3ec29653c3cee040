import type { FastifyReply, FastifyRequest } from 'fastify'
import type {
  AnyResult,
  Client,
  HeadersOf,
  OperationRequest,
} from '../../../core/contract/operation-types.ts'
import type { PlantCodec } from '../../../service/plant-codec.ts'
import { changesResult, type PlantService } from '../../../service/plant-service.ts'
import type { ReadChanges, SharedFeed } from '../../../service/shared-feed.ts'
import type { ChangePage } from '../../../service/store/change-feed.ts'
import {
  COMMENT_INTERVAL_SECONDS,
  EVENT_STREAM_HEADERS,
  eventFormatter,
  prefersEvents,
  STREAM_PAGE_LIMIT,
  sendEvents,
} from './event-stream.ts'
import type { Followers } from './followers.ts'

type ListChanges = OperationRequest<'listChanges'> & {
  readonly headers: HeadersOf<'listChanges'>
}

/** The body of a page without changes. */
const NO_CHANGES = '[]'

/** Serves a request, and resolves to the result to send; undefined if the response has been sent. */
export type Serve<Parts> = (
  parts: Parts,
  client: Client,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<AnyResult | undefined>

export type Follow = Serve<ListChanges>

/**
 * Serves `listChanges`: as a page, with `wait` as a long poll, and for `Accept: text/event-stream` as a stream. The
 * first read never waits, so that errors are ordinary responses and the wait begins at a known cursor.
 *
 * @param service reads a page without waiting, and sees every change that was acknowledged before
 * @param feed waits for changes, and shares a page among the followers that need it
 * @param readFor returns a function that reads a page on behalf of a client
 */
export function followChanges(
  service: Pick<PlantService, 'listChanges'>,
  feed: SharedFeed,
  readFor: (client: Client) => ReadChanges,
  followers: Followers,
  codec: PlantCodec,
): Follow {
  const format = eventFormatter((change) => codec.changeJson(change))

  return (parts, client, request, reply) => {
    const serve = prefersEvents(request) ? stream : poll
    return serve(parts, client, request, reply)
  }

  async function poll(
    { query }: ListChanges,
    client: Client,
    request: FastifyRequest,
    reply: FastifyReply,
  ) {
    const result = await service.listChanges({ query }, client)
    if ('failure' in result || query.wait === 0 || request.method === 'HEAD') return result
    if (result.body !== NO_CHANGES) return result
    const { signal, leave } = followers.joinPoll(request, reply)
    try {
      const next = { limit: query.limit, ...result.next }
      const read = readFor({ grant: client.grant, isGone: () => signal.aborted })
      return changesResult(codec, await feed.readNext(next, 1000 * query.wait, signal, read))
    } finally {
      leave()
    }
  }

  async function stream(
    { query, headers }: ListChanges,
    client: Client,
    request: FastifyRequest,
    reply: FastifyReply,
  ) {
    // Some libraries send an empty one before the first event.
    const start = headers['last-event-id'] || query.after
    const firstRequest = { after: start, limit: STREAM_PAGE_LIMIT }
    const page = await feed.readNext(firstRequest, 0, undefined, readFor(client))
    if (typeof page === 'string') return changesResult(codec, page)
    if (request.method === 'HEAD') {
      reply.headers(EVENT_STREAM_HEADERS).send()
      return undefined
    }
    let first: ChangePage | undefined = page
    const readNext = async (cursor: string | undefined, signal: AbortSignal) => {
      const unsent = first
      // The stream, which can be open for days, must not keep it.
      first = undefined
      if (unsent !== undefined) return unsent
      const nextRequest = { after: cursor, limit: STREAM_PAGE_LIMIT }
      const read = readFor({ grant: client.grant, isGone: () => signal.aborted })
      const next = await feed.readNext(nextRequest, 1000 * COMMENT_INTERVAL_SECONDS, signal, read)
      return typeof next === 'string' ? undefined : next
    }
    // Not awaited, because that would keep the page in memory.
    return sendEvents(request, reply, { start, readNext, format }, followers)
  }
}

import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  COMMENT_INTERVAL_SECONDS,
  EVENT_STREAM_HEADERS,
  eventFormatter,
  type Item,
  prefersEvents,
  STREAM_PAGE_LIMIT,
  type StreamPage,
  sendEvents,
} from './event-stream.ts'
import type { Followers } from './followers.ts'
import type { Failure, Handle, Success } from './handle.ts'
import { serialize } from './response.ts'

interface Query {
  readonly after?: string
  readonly wait: number
}

/** Serves a request, and resolves to the answer to send; undefined if it has been sent. */
export type Follow = (
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<Failure | Success | undefined>

/**
 * Serves an operation whose pages can be followed. A stream is a series of pages that the service itself follows. The
 * first read never waits, so that errors are ordinary responses, and the wait begins at a known position.
 */
export function followPages(handle: Handle, followers: Followers): Follow {
  let format: ((items: readonly Item[]) => Buffer) | undefined

  return (request, reply) =>
    prefersEvents(request) ? stream(request, reply) : poll(request, reply)

  async function poll(request: FastifyRequest, reply: FastifyReply) {
    const query = request.query as Query
    const answer = await handle({ query })
    if ('failure' in answer || query.wait === 0 || request.method === 'HEAD') return answer
    if (toPage(answer).items.length > 0) return answer
    const { signal, leave } = followers.joinPoll(request, reply)
    try {
      return await handle({ query: { ...query, ...answer.next }, signal })
    } finally {
      leave()
    }
  }

  async function stream(request: FastifyRequest, reply: FastifyReply) {
    const { after } = request.query as Query
    const start = (request.headers['last-event-id'] as string | undefined) ?? after
    const options = { limit: STREAM_PAGE_LIMIT, wait: COMMENT_INTERVAL_SECONDS }
    const answer = await handle({ query: { ...options, after: start } })
    if ('failure' in answer) return answer
    if (request.method === 'HEAD') {
      reply.headers(EVENT_STREAM_HEADERS).send()
      return undefined
    }
    // Fastify's compiled serializer formats arrays, so the brackets are removed.
    format ??= eventFormatter((item) => serialize([item], reply).slice(1, -1))
    let first: StreamPage | undefined = toPage(answer)
    const readNext = async (position: string | undefined, signal: AbortSignal) => {
      const page = first
      // The stream, which can be open for days, must not keep it.
      first = undefined
      if (page !== undefined) return page
      const next = await handle({ query: { ...options, after: position }, signal })
      return 'failure' in next ? undefined : toPage(next)
    }
    // Not awaited, because that would keep the answer in memory.
    return sendEvents(request, reply, { start, readNext, format }, followers)
  }
}

function toPage({ body, next }: Success): StreamPage {
  return { items: body as Item[], next: (next as { after: string }).after }
}

import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Distinguishes this process's requests from those of other processes and earlier runs. */
const PROCESS_ID = randomBytes(8).toString('base64url')

let requestCount = 0

/** A globally unique request id. */
export function newRequestId(): string {
  requestCount++
  return `${PROCESS_ID}-${requestCount.toString(36)}`
}

/** Headers of every response. Cacheable responses override `Cache-Control`. */
export function commonHeaders(requestId: string) {
  return {
    'x-request-id': requestId,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  }
}

/** An `onRequest` hook, which must be the first, because any other can send a response. */
export function setCommonHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  next: () => void,
): void {
  addCommonHeaders(request, reply)
  next()
}

/** Adds a request header to `Vary` (RFC 9110 §12.5.5). */
export function addVary(reply: FastifyReply, name: string): void {
  const before = reply.getHeader('vary')
  reply.header('vary', before === undefined ? name : `${before}, ${name}`)
}

/** Adds the common headers to a response. Call it for a request that reaches no hook. */
export function addCommonHeaders({ id }: FastifyRequest, reply: FastifyReply): void {
  reply.headers(commonHeaders(id))
}

import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Distinguishes this process's requests from those of other processes and earlier runs. */
const PROCESS = randomBytes(8).toString('base64url')

let requests = 0

/** A unique request id. */
export function newRequestId(): string {
  requests++
  return `${PROCESS}-${requests.toString(36)}`
}

/** Headers of every response. Cacheable responses override `Cache-Control`. */
export function commonHeaders(requestId: string) {
  return {
    'x-request-id': requestId,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  }
}

export function addCommonHeaders({ id }: FastifyRequest, reply: FastifyReply): void {
  reply.headers(commonHeaders(id))
}

import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Tells the requests of this process from those of others, and of earlier runs. */
const PROCESS = randomBytes(8).toString('base64url')

let requests = 0

/** An id that no other request has. */
export function newRequestId(): string {
  requests++
  return `${PROCESS}-${requests.toString(36)}`
}

/** The headers that every response has. Those that may be kept by a cache replace the last one. */
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

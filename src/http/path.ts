import type { FastifyRequest } from 'fastify'

/** The path of a request as it was sent, without the query, in which there may be secrets. */
export function pathOf({ url }: FastifyRequest): string {
  return url.replace(/[?#].*/s, '')
}

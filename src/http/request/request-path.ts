import type { FastifyRequest } from 'fastify'

/** The path of a request as sent, without the query, which may contain secrets. */
export function getPath({ url }: FastifyRequest): string {
  return url.replace(/[?#].*/s, '')
}

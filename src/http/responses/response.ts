import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { versionOf } from '../../../core/members/plant-version.ts'
import type { Clock } from '../../../core/time/clock.ts'
import { type ApiError, serviceBusy, toErrorResponse } from './api-error.ts'
import { ByteBudget, LARGE_MESSAGES_BYTES_MAX, SMALL_MESSAGE_BYTES } from './byte-budget.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** For large responses in flight. */
    responseBudget: ByteBudget
  }
}

/**
 * Sets up the budget for `sendJson`.
 *
 * @param threads how many threads share the process's limits
 */
export function limitResponses(
  app: FastifyInstance,
  threads: number,
  clock?: Pick<Clock, 'monotonic'>,
): void {
  app.decorate('responseBudget', new ByteBudget(LARGE_MESSAGES_BYTES_MAX / threads, clock))
}

/**
 * Sends JSON text.
 *
 * @throws ApiError if the response budget is used up
 */
export function sendJson(
  reply: FastifyReply,
  status: number,
  json: string,
  headers: Readonly<Record<string, string>> = {},
): FastifyReply {
  // Compares UTF-16 units because counting the bytes of every response would cost more.
  if (json.length > SMALL_MESSAGE_BYTES) {
    reserve(reply, reply.server.responseBudget, Buffer.byteLength(json))
  }
  return (
    reply
      .code(status)
      .headers(headers)
      .header('content-type', 'application/json')
      // Without a serializer Fastify adds a charset, which `application/json` does not have (RFC 8259 §11).
      .serializer(identity)
      .send(json)
  )
}

/** Sends an error as the contract's `Error`. */
export function sendError(reply: FastifyReply, error: ApiError): FastifyReply {
  const { status, body } = toErrorResponse(error)
  reply.server.requestMetrics?.countError(error.code)
  return sendJson(reply, status, JSON.stringify(body), error.headers)
}

/**
 * Takes the bytes of a response from a budget until it is sent or the client disconnects. If others need them, the
 * response is aborted.
 *
 * @throws ApiError if the budget is used up
 */
export function reserve({ raw }: FastifyReply, budget: ByteBudget, bytes: number): void {
  if (raw.closed) return
  const share = budget.share(() => raw.destroy())
  if (!share.take(bytes)) throw serviceBusy()
  raw.once('close', () => share.release())
}

function identity(json: string): string {
  return json
}

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

/**
 * An entity tag in a conditional request (RFC 9110 §13). The contract has already ensured that such headers are
 * well-formed.
 */
const ENTITY_TAG = /(?:W\/)?"[^"]*"/g

/**
 * The versions that `If-Match` lists; undefined if it allows any. Weak tags are omitted, because the comparison is
 * strong (RFC 9110 §13.1.1).
 */
export function expectedVersions(ifMatch: string | undefined): readonly string[] | undefined {
  if (ifMatch === undefined || ifMatch === '*') return undefined
  return parseTags(ifMatch)
    .filter((tag) => !isWeak(tag))
    .map(versionOf)
}

/** Whether `If-Match` lists a tag that can match nothing. */
export function hasWeakTag(ifMatch = ''): boolean {
  return parseTags(ifMatch).some(isWeak)
}

/** Whether `If-None-Match` lists the version, compared weakly (RFC 9110 §13.1.2). */
export function isKnown(version: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch === '*') return true
  return parseTags(ifNoneMatch).map(versionOf).includes(version)
}

function isWeak(tag: string): boolean {
  return tag.startsWith('W/')
}

function parseTags(header: string): string[] {
  return Array.from(header.matchAll(ENTITY_TAG), ([tag]) => tag)
}

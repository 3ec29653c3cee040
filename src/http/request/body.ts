import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest, preParsingHookHandler, RouteOptions } from 'fastify'
import { type ContractDocument, plantMembers } from '../../../core/contract/contract.ts'
import type { ErrorCode } from '../../../core/generated/error-codes.gen.ts'
import { prepareParser } from '../../../core/json/exact-json.ts'
import { known } from '../../../core/known.ts'
import { listAlternatives } from '../../../core/members/value-rules.ts'
import type { Clock } from '../../../core/time/clock.ts'
import { ApiError, serviceBusy } from '../responses/api-error.ts'
import {
  ByteBudget,
  LARGE_MESSAGES_BYTES_MAX,
  SMALL_MESSAGE_BYTES,
} from '../responses/byte-budget.ts'
import { firstParameterError } from './parameters.ts'

/** The media types that are read as JSON. The contract decides which of them an operation accepts. */
export const JSON_TYPES = ['application/json', 'application/merge-patch+json']

/** The content codings that a body can have (RFC 9110 §12.5.3). */
export const IDENTITY_ONLY = { 'accept-encoding': 'identity' }

/** A parameter of a media type (RFC 9110 §5.6.6). A quoted value can contain what looks like a parameter. */
const PARAMETER = /;\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;\s]*)/g

/** The methods for which the contract describes a body, in upper case. */
export function bodyMethods({ paths }: ContractDocument): ReadonlySet<string> {
  const methods = new Set<string>()
  for (const operations of Object.values(paths)) {
    for (const [method, { requestBody }] of Object.entries(operations)) {
      if (requestBody !== undefined) methods.add(method.toUpperCase())
    }
  }
  return methods
}

/**
 * An `onRoute` hook that makes operations with a body reject one which its headers rule out, before any of it is read,
 * and send 100 to a client that waits for it.
 *
 * @param bodyLimit in bytes
 */
export function checkBodyHead(bodyLimit: number): (route: RouteOptions) => void {
  const checkHead: preParsingHookHandler = (request, reply, _body, next) => {
    const { mediaTypes } = known(request.operation)
    const error = bodyHeadError(request, mediaTypes, bodyLimit)
    if (error !== undefined || !awaitsContinue(request)) return next(error)
    // Fastify validates them only once it has the body.
    const invalid = firstParameterError(request)
    if (invalid === undefined) reply.raw.writeContinue()
    next(invalid)
  }
  return (route) => {
    if (route.config?.operation?.mediaTypes.length === 0) return
    route.preParsing = checkHead
    route.preValidation = requireBody
  }
}

/** Fastify validates only bodies of a listed media type, so a request without a body would pass. */
function requireBody(
  { body, operation }: FastifyRequest,
  _reply: FastifyReply,
  next: (error?: Error) => void,
): void {
  const isMissing = body === undefined && operation?.bodyRequired
  next(isMissing ? new ApiError('invalid-body', 'body is required') : undefined)
}

/**
 * Whether the client waits for 100 before it sends a body (RFC 9110 §10.1.1). An HTTP/1.0 client would mistake 100 for
 * the final response.
 */
function awaitsContinue({ headers, raw }: FastifyRequest): boolean {
  if (headers.expect === undefined || raw.httpVersion === '1.0') return false
  const expectations = headers.expect.toLowerCase().split(',')
  return (
    hasContent(headers) && expectations.some((expectation) => expectation.trim() === '100-continue')
  )
}

function hasContent({
  'content-length': length = '0',
  'transfer-encoding': coding,
}: IncomingHttpHeaders): boolean {
  return length !== '0' || coding !== undefined
}

/** Why the headers rule out a body, before any of it is read; undefined if they do not. */
function bodyHeadError(
  request: FastifyRequest,
  mediaTypes: readonly string[],
  bodyLimit: number,
): ApiError | undefined {
  const { 'content-encoding': coding = 'identity', 'content-length': length } = request.headers
  if (coding.toLowerCase() !== 'identity') {
    const message = 'the body must not have a Content-Encoding'
    return unsupported(request, 'unsupported-content-coding', message, IDENTITY_ONLY)
  }
  return (
    typeError(request, mediaTypes) ??
    (Number(length) > bodyLimit ? bodyTooLarge(bodyLimit) : undefined)
  )
}

function typeError(request: FastifyRequest, mediaTypes: readonly string[]): ApiError | undefined {
  const { 'content-type': type } = request.headers
  // The common case.
  if (type !== undefined && mediaTypes.includes(type)) return undefined
  if (type === undefined && !hasContent(request.headers)) return undefined
  for (const [, name = '', value = ''] of type?.matchAll(PARAMETER) ?? []) {
    const charset = value.replace(/^"(.*)"$/, '$1').replace(/\\(.)/g, '$1')
    if (name.toLowerCase() === 'charset' && !/^utf-?8$/i.test(charset)) {
      const message = `the body must be UTF-8, not ${charset}`
      return unsupported(request, 'unsupported-charset', message)
    }
  }
  // Fastify accepts any type that has a parser, even one that the operation does not accept.
  const { mediaType = '' } = request
  if (mediaTypes.includes(mediaType)) return undefined
  const message = `the Content-Type must be ${listAlternatives(mediaTypes)}`
  return unsupported(request, 'unsupported-media-type', message)
}

/** A 415; for PATCH it lists the accepted types (RFC 5789 §2.2). */
export function unsupported(
  { method, operation }: FastifyRequest,
  code: ErrorCode,
  message: string,
  headers: Record<string, string> = {},
): ApiError {
  const { mediaTypes } = known(operation)
  const acceptPatch = method === 'PATCH' && { 'accept-patch': mediaTypes.join(', ') }
  return new ApiError(code, message, { ...headers, ...acceptPatch })
}

/** How many bytes of large bodies are parsed in one turn of the event loop. More would delay other clients. */
const TURN_BYTES_MAX = 2 ** 19

export interface BodyReaderOptions {
  readonly contract: ContractDocument
  /** The largest body, in bytes. */
  readonly bodyLimit: number
  /** How many threads share the process's limits. */
  readonly threads: number
  readonly clock?: Pick<Clock, 'monotonic'> | undefined
}

type Done = (error: Error | null, body?: unknown) => void

/**
 * Creates a Fastify content type parser for JSON. It limits the total size of the large bodies being received, and of
 * those parsed in one turn of the event loop. Bodies beyond a limit are rejected immediately.
 */
export function bodyReader({ contract, bodyLimit, threads, clock }: BodyReaderOptions) {
  const parseBody = prepareParser(plantMembers(contract))
  const budgetMax = Math.max(LARGE_MESSAGES_BYTES_MAX / threads, bodyLimit)
  const budget = new ByteBudget(budgetMax, clock)
  let turnBytes = 0
  return (_request: FastifyRequest, payload: IncomingMessage, done: Done) => {
    let body: Buffer | undefined
    let length = 0

    const end = (finish: () => void) => {
      payload.off('data', take).off('end', read).off('error', abort)
      received.release()
      finish()
    }
    const fail = (error: Error) => end(() => done(error))
    const received = budget.share(() => fail(serviceBusy()))
    const take = (chunk: Buffer) => {
      const total = length + chunk.length
      if (total > bodyLimit) return fail(bodyTooLarge(bodyLimit))
      const uncounted = Math.max(0, total - SMALL_MESSAGE_BYTES) - received.bytes
      if (uncounted > 0 && !received.take(uncounted)) return fail(serviceBusy())
      body = append(body, length, chunk)
      length = total
    }
    const read = () => {
      if (length > SMALL_MESSAGE_BYTES) {
        if (turnBytes > 0 && turnBytes + length > TURN_BYTES_MAX) return fail(serviceBusy())
        turnBytes += length
        setImmediate(() => {
          turnBytes -= length
        })
      }
      end(parse)
    }
    const abort = () => fail(new ApiError('malformed-request', 'the body is incomplete'))
    const parse = () => {
      let value: unknown
      try {
        // Like JSON.parse, but integers keep their exact value.
        value = parseBody((body ?? Buffer.alloc(0)).subarray(0, length))
      } catch (error) {
        return done(error as Error)
      }
      done(null, value)
    }
    payload.on('data', take).on('end', read).on('error', abort)
    // With `optimizeEmptyRequests`, a request without a body emits no event.
    if (payload.readableEnded) read()
  }
}

function bodyTooLarge(bodyLimit: number): ApiError {
  return new ApiError('body-too-large', `the body must not exceed ${bodyLimit} bytes`)
}

/**
 * Appends a chunk to the first `length` bytes of a buffer. Chunks are copied because keeping one takes a hundred bytes
 * of memory, even if it has a single byte.
 */
function append(buffer: Buffer | undefined, length: number, chunk: Buffer): Buffer {
  if (buffer === undefined) return chunk
  const enlarged =
    length + chunk.length <= buffer.length
      ? buffer
      : Buffer.concat([buffer.subarray(0, length)], (length + chunk.length) * 2)
  chunk.copy(enlarged, length)
  return enlarged
}

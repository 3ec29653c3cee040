import type { FastifyReply } from 'fastify'
import type { ErrorCode } from '../contract/error-codes.gen.ts'
import { errorCodes } from '../contract/error-codes.gen.ts'
import type { ByteBudget } from './byte-budget.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** For responses in flight. */
    responseBudget: ByteBudget
  }
}

/** Seconds after which it is worth repeating a request that found the service or its store unavailable. */
export const RETRY_AFTER = { busy: '1', failing: '5' }

/**
 * A shorter response, in UTF-16 units, does not count towards the budget. So small responses get through while others
 * fill the budget.
 */
const SMALL_RESPONSE_LENGTH = 2 ** 14

/** Messages repeat what a client sent, which may be as long as a request head. */
const MESSAGE_MAX = 500

/** A failure that ends a request: one of the contract's error codes, and what is wrong in words. */
export class ApiError extends Error {
  readonly condition: ErrorCode
  readonly headers: Readonly<Record<string, string>>

  /**
   * @param message what the caller did and what would have been right; the caller reads it
   * @param headers those that the contract documents for the condition's status
   */
  constructor(condition: ErrorCode, message: string, headers: Record<string, string> = {}) {
    // A stack trace nobody reads would be a tenth of the cost of a rejected request.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(
      message.length > MESSAGE_MAX ? `${message.slice(0, MESSAGE_MAX)}…`.toWellFormed() : message,
    )
    Error.stackTraceLimit = stackTraceLimit
    this.condition = condition
    this.headers = headers
  }
}

/** The status and the Error object (of the contract) for a failure. */
export function errorOf({ condition, message }: Pick<ApiError, 'condition' | 'message'>): {
  status: number
  body: { error: number; message: string }
} {
  const { status, error } = errorCodes[condition]
  return { status, body: { error, message } }
}

/** The process has reached a limit on memory or work. */
export function serviceBusy(): ApiError {
  return new ApiError('service-busy', 'the service is busy', { 'retry-after': RETRY_AFTER.busy })
}

export function sendFailure(reply: FastifyReply, failure: ApiError): FastifyReply {
  const { status, body } = errorOf(failure)
  return sendJson(reply, status, body, { headers: failure.headers })
}

interface JsonOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly serialize?: (value: object) => string
}

/**
 * Sends a JSON value.
 *
 * @throws ApiError if the response budget is used up
 */
export function sendJson(
  reply: FastifyReply,
  status: number,
  value: object,
  { headers = {}, serialize = JSON.stringify }: JsonOptions = {},
): FastifyReply {
  const text = serialize(value)
  if (text.length > SMALL_RESPONSE_LENGTH) {
    reserve(reply, reply.server.responseBudget, Buffer.byteLength(text))
  }
  return (
    reply
      .code(status)
      .headers(headers)
      .header('content-type', 'application/json')
      // Without a serializer Fastify adds a charset, which `application/json` does not have (RFC 8259 §11).
      .serializer(asIs)
      .send(text)
  )
}

/**
 * Takes the bytes of a response from a budget until it is sent or the client disconnects.
 *
 * @throws ApiError if the budget is used up
 */
export function reserve({ raw }: FastifyReply, budget: ByteBudget, bytes: number): void {
  if (raw.closed) return
  if (!budget.take(bytes)) throw serviceBusy()
  raw.once('close', () => budget.release(bytes))
}

function asIs(text: string): string {
  return text
}

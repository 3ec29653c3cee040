import type { FastifyReply } from 'fastify'
import type { Condition } from '../contract/conditions.gen.ts'
import { conditions } from '../contract/conditions.gen.ts'

/** A failure that ends a request: one of the contract's conditions, and what is wrong in words. */
export class Failure extends Error {
  readonly condition: Condition
  readonly headers: Readonly<Record<string, string>>

  /**
   * @param message what the caller did and what would have been right; the caller reads it
   * @param headers those that the contract documents for the condition's status
   */
  constructor(condition: Condition, message: string, headers: Record<string, string> = {}) {
    super(message)
    this.condition = condition
    this.headers = headers
  }
}

/** The status and the Error object (of the contract) for a failure. */
export function errorOf({ condition, message }: Pick<Failure, 'condition' | 'message'>): {
  status: number
  body: { error: number; message: string }
} {
  const { status, error } = conditions[condition]
  return { status, body: { error, message } }
}

export function sendFailure(reply: FastifyReply, failure: Failure): FastifyReply {
  const { status, body } = errorOf(failure)
  return sendJson(reply.headers(failure.headers), status, body)
}

/**
 * Sends a JSON value. By way of a serializer of its own, as Fastify otherwise adds a `charset`, which
 * `application/json` does not have (RFC 8259 §11).
 */
export function sendJson(
  reply: FastifyReply,
  status: number,
  value: object,
  serialize: (value: Record<string, unknown>) => string = JSON.stringify,
): FastifyReply {
  return reply
    .code(status)
    .header('content-type', 'application/json')
    .serializer(serialize)
    .send(value)
}

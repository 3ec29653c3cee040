import type { FastifyInstance, FastifyReply } from 'fastify'
import { type ApiError, serviceBusy, toErrorResponse } from './api-error.ts'
import {
  ByteBudget,
  LARGE_MESSAGES_BYTES_MAX,
  type Now,
  SMALL_MESSAGE_BYTES,
} from './byte-budget.ts'

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
export function limitResponses(app: FastifyInstance, threads: number, now?: Now): void {
  app.decorate('responseBudget', new ByteBudget(LARGE_MESSAGES_BYTES_MAX / threads, now))
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

/** Formats a body as JSON. Fastify compiles a function for each successful response, from the contract's schemas. */
export function serialize(body: object, reply: FastifyReply, status = 200): string {
  const format = reply.getSerializationFunction(String(status), 'application/json')
  return (format as (value: object) => string)(body)
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

import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { parseExactJson } from '../contract/exact-json.ts'
import type { Shape } from '../contract/shape.ts'
import { ApiError, serviceBusy } from './api-error.ts'
import type { ByteBudget } from './byte-budget.ts'
import type { RequestScheduler } from './request-scheduler.ts'

/**
 * Bytes of each body that do not count towards the budget. A body of this size is parsed without waiting for a turn,
 * so requests of a usual size get through while others fill the budget.
 */
export const SMALL_BODY_BYTES = 2 ** 14

export interface BodyReaderOptions {
  /** The largest body, in bytes. */
  readonly limit: number
  readonly budget: ByteBudget
  readonly scheduler: RequestScheduler
  /** Which parts of a body the operations read. */
  readonly shape: Shape
}

type Done = (error: Error | null, body?: unknown) => void

/** A Fastify content type parser for JSON bodies. */
export function bodyReader({ limit, budget, scheduler, shape }: BodyReaderOptions) {
  return (_request: FastifyRequest, payload: IncomingMessage, done: Done) => {
    let body: Buffer | undefined
    let length = 0
    let counted = 0

    const end = (finish: () => void) => {
      payload.off('data', take).off('end', read).off('error', abort)
      finish()
    }
    const take = (chunk: Buffer) => {
      const received = length + chunk.length
      if (received > limit) return end(() => fail(bodyTooLarge(limit)))
      const uncounted = Math.max(0, received - SMALL_BODY_BYTES) - counted
      if (uncounted > 0 && !budget.take(uncounted)) return end(() => fail(serviceBusy()))
      counted += uncounted
      body = append(body, length, chunk)
      length = received
    }
    const read = () =>
      end(() => {
        if (counted === 0) parse()
        else scheduler.take(parse, () => fail(serviceBusy()))
      })
    const abort = () => end(() => fail(new ApiError('malformed-request', 'the body is incomplete')))
    const parse = () => {
      budget.release(counted)
      let value: unknown
      try {
        value = parseExactJson((body ?? Buffer.alloc(0)).subarray(0, length), shape)
      } catch (error) {
        return done(error as Error)
      }
      done(null, value)
    }
    const fail = (error: Error) => {
      budget.release(counted)
      done(error)
    }
    payload.on('data', take).on('end', read).on('error', abort)
  }
}

export function bodyTooLarge(limit: number): ApiError {
  return new ApiError('body-too-large', `the body must not exceed ${limit} bytes`)
}

/**
 * Appends a chunk to the first `length` bytes of a buffer. Chunks are not kept as they are because a one-byte chunk
 * takes a hundred bytes of memory.
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

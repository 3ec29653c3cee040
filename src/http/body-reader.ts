import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { parseExactJson } from '../contract/exact-json.ts'
import type { Shape } from '../contract/shape.ts'
import type { ByteBudget } from './byte-budget.ts'
import { Failure, serviceBusy } from './failure.ts'
import type { Turns } from './turns.ts'

/**
 * What each body may have without counting towards the budget, and is read at once without waiting for a turn.
 * So requests of a usual size get through while others fill the budget.
 */
export const SMALL_BODY_BYTES = 2 ** 14

export interface BodyReaderOptions {
  /** The largest body, in bytes. */
  readonly limit: number
  readonly budget: ByteBudget
  readonly turns: Turns
  /** What the operations read of their bodies. */
  readonly shape: Shape
}

type Done = (error: Error | null, body?: unknown) => void

/** Reads JSON bodies: a content type parser for Fastify. */
export function bodyReader({ limit, budget, turns, shape }: BodyReaderOptions) {
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
        else turns.take(parse, () => fail(serviceBusy()))
      })
    const abort = () => end(() => fail(new Failure('malformed-request', 'the body is incomplete')))
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

export function bodyTooLarge(limit: number): Failure {
  return new Failure('body-too-large', `body must not be larger than ${limit} bytes`)
}

/**
 * Adds a chunk to the first `length` bytes of a buffer. Chunks are not kept as they are: a chunk of one byte
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

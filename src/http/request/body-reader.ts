import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { parseExactJson } from '../../../contract/exact-json.ts'
import { ApiError, serviceBusy } from '../responses/api-error.ts'
import {
  ByteBudget,
  LARGE_MESSAGES_BYTES_MAX,
  type Now,
  SMALL_MESSAGE_BYTES,
} from '../responses/byte-budget.ts'

/** How many bytes of large bodies are parsed in one turn of the event loop. More would delay other clients. */
const TURN_BYTES_MAX = 2 ** 19

export interface BodyReaderOptions {
  /** The largest body, in bytes. */
  readonly bodyLimit: number
  /** How many threads share the process's limits. */
  readonly threads: number
  readonly now?: Now | undefined
}

type Done = (error: Error | null, body?: unknown) => void

/**
 * Creates a Fastify content type parser for JSON. It limits the total size of the large bodies being received, and of
 * those parsed in one turn of the event loop. Bodies beyond a limit are rejected immediately.
 */
export function bodyReader({ bodyLimit, threads, now }: BodyReaderOptions) {
  const budgetMax = Math.max(LARGE_MESSAGES_BYTES_MAX / threads, bodyLimit)
  const budget = new ByteBudget(budgetMax, now)
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
        value = parseExactJson((body ?? Buffer.alloc(0)).subarray(0, length))
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

export function bodyTooLarge(bodyLimit: number): ApiError {
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

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { parseExactJson } from '../contract/exact-json.ts'
import type { Projection } from '../contract/projection.ts'
import type { SharedState } from '../shared-memory/shared-state.ts'
import { ApiError, serviceBusy } from './api-error.ts'
import type { BatchQueue } from './batch-queue.ts'
import { ByteBudget, LARGE_MESSAGES_BYTES_MAX, SMALL_MESSAGE_BYTES } from './byte-budget.ts'
import type { RequestScheduler } from './request-scheduler.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before a batch is read. */
    batchResponse: ServerResponse | undefined
  }
}

export interface BodyReaderOptions {
  /** The largest body, in bytes. */
  readonly bodyLimit: number
  readonly scheduler: RequestScheduler
  readonly batches: BatchQueue
  readonly shared: SharedState
  /** Which parts of a body the operations read. */
  readonly projection: Projection
}

type Done = (error: Error | null, body?: unknown) => void

/**
 * Creates a Fastify content type parser for JSON. Before they are parsed, large bodies wait for the scheduler, and
 * batches for the batches before them.
 */
export function bodyReader(options: BodyReaderOptions) {
  const { bodyLimit, scheduler, batches, shared, projection } = options
  const budgetMax = Math.max(LARGE_MESSAGES_BYTES_MAX, bodyLimit)
  const budget = new ByteBudget(budgetMax, shared.receivedBytes)
  return ({ batchResponse }: FastifyRequest, payload: IncomingMessage, done: Done) => {
    let body: Buffer | undefined
    let length = 0
    let counted = 0

    const end = (finish: () => void) => {
      payload.off('data', take).off('end', read).off('error', abort)
      finish()
    }
    const take = (chunk: Buffer) => {
      const received = length + chunk.length
      if (received > bodyLimit) return end(() => fail(bodyTooLarge(bodyLimit)))
      const uncounted = Math.max(0, received - SMALL_MESSAGE_BYTES) - counted
      if (uncounted > 0 && !budget.take(uncounted)) return end(() => fail(serviceBusy()))
      counted += uncounted
      body = append(body, length, chunk)
      length = received
    }
    const read = () =>
      end(() => {
        const reject = () => fail(serviceBusy())
        if (batchResponse !== undefined)
          batches.enter(length, () => parseBatch(batchResponse), reject)
        else if (counted === 0) parse()
        else scheduler.schedule(parse, reject)
      })
    const abort = () => end(() => fail(new ApiError('malformed-request', 'the body is incomplete')))
    const parseBatch = (response: ServerResponse) => {
      const leave = () => batches.leave(length)
      // The client may have disconnected while the batch was waiting.
      if (response.closed) {
        fail(serviceBusy())
        leave()
      } else {
        response.once('close', leave)
        parse()
      }
    }
    const parse = () => {
      budget.release(counted)
      let value: unknown
      try {
        value = parseExactJson((body ?? Buffer.alloc(0)).subarray(0, length), projection)
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

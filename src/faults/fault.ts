/** The faults of a store for tests, and the requests that it has received, as its users see them. */

import type { OperationId } from '../../core/contract/operation-types.ts'
import type { ErrorCode } from '../../core/generated/error-codes.gen.ts'

/**
 * What goes wrong, and for which requests. Without `operation`, `token` and `id`, a fault matches the requests of every
 * operation. Each fault counts the requests that it matches, including those to which an earlier one applies. Without
 * `nth`, `every`, `first` and `probability`, which exclude each other, it applies to all of them. Of several faults that
 * apply to a request, the first one takes effect.
 *
 * @example
 * // The first create is stored, but its response gets lost. Every third list fails with 503.
 * [
 *   { operation: 'createPlant', first: 1, cut: 'before-response' },
 *   { operation: 'listPlants', every: 3, error: 'store-busy', retryAfter: 2 },
 * ]
 */
export interface Fault {
  /** Identifies the fault in recorded requests, instead of its index. */
  readonly name?: string
  /** The `operationId` in the contract. HEAD counts as GET. */
  readonly operation?: OperationId
  /** The name of the request's token. That of `startPlantStore`, or of the environment, is `PLANT_STORE_TOKEN`. */
  readonly token?: string
  /** The id of a plant in the request: in its path, its query or its body. */
  readonly id?: bigint
  /** Applies only to this matching request, from 1. */
  readonly nth?: number
  /** Applies to every nth matching request. */
  readonly every?: number
  /** Applies to this many matching requests. */
  readonly first?: number
  /** Applies to a matching request with this probability, from 0 to 1. */
  readonly probability?: number
  /**
   * For `probability`, by default the index of the fault. With the same seed, the same requests in the same order have
   * the same faults.
   */
  readonly seed?: number
  /** Responds with this error, which the contract documents for the operation, and does no work. */
  readonly error?: ErrorCode
  /** The `Retry-After` of the error, in seconds. */
  readonly retryAfter?: number
  /** Delays the request by this many milliseconds. Can be combined with all others. */
  readonly delayMs?: number
  /** What the delay precedes: the work, which is the default, or the response. A stream has no such difference. */
  readonly delay?: 'before-work' | 'before-response'
  /**
   * Closes the connection:
   * - `before-work`: nothing is done.
   * - `before-response`: the work is done and a change is committed, but the client receives no response.
   * - `in-body`: the client receives the head and half of the body. A response without a body is not cut.
   * - `in-character`: the body ends after the first byte of a character that has several. A response without one is not
   *   cut.
   * - `after-events`: the client receives this many `events` of a stream, or changes of a page. A response with fewer
   *   is not cut.
   */
  readonly cut?: 'before-work' | 'before-response' | 'in-body' | 'in-character' | 'after-events'
  readonly events?: number
  /** Whether the cut resets the connection (TCP RST) instead of ending it (FIN). Without effect over TLS. */
  readonly reset?: boolean
  /** Sends the body one byte at a time, each this many milliseconds after the last. */
  readonly dripMs?: number
  /** Replaces the body by a page in HTML, as proxies respond. The work is done, and the status stays. */
  readonly body?: 'html'
}

/** A request as the store received it. Without its query, headers and body, which can contain secrets. */
export interface RecordedRequest {
  readonly method: string
  readonly path: string
  /** When it arrived, in ISO 8601. */
  readonly at: string
  /** Undefined if the request belongs to no operation. */
  readonly operation?: string
  /** The name of its token; undefined if the token was missing or refused. */
  readonly token?: string
  /** The status of the response, once its head is sent. Undefined if the connection was cut before that. */
  readonly status?: number
  /** The name or the index of the fault that took effect. */
  readonly fault?: string | number
  /** The ids of plants in its path, query and body; none if the request was refused before they were validated. */
  readonly ids: readonly bigint[]
}

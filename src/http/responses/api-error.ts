/**
 * # How an error reaches the client
 *
 * The contract lists every error as a named example of an `Error` response, such as `plant-not-found`: status 404,
 * `error` 40402. `npm run generate` turns these names into the type `ErrorCode` and the table `errorCodes`
 * (core/generated/error-codes.gen.ts). That table is the only place that maps a code to a status; everything else refers
 * to an error by its code.
 *
 * An error comes from one of five places:
 *
 * 1. **Our own checks**: the hooks and the body parser in `request/`. They throw an `ApiError`, or pass one to `next`:
 *    a code, a message for the client, and the headers that the contract documents for the status.
 * 2. **A handler.** `PlantService` (`service/plant-service.ts`) throws no `ApiError`. It returns a `failure` (a code)
 *    and a `message`, which compiles only if the contract documents the code's status for that operation.
 *    `routes.ts` converts them to an `ApiError`.
 * 3. **The store.** Expected outcomes, such as a conflict, are results that the handler translates. If the store is
 *    unavailable, the engine rejects with `StoreUnavailable`; each engine maps its driver's errors in its own folder.
 *    The `reason` becomes `store-busy`, `store-unavailable` or `read-only-mirror`. The details go to the log only.
 * 4. **Fastify and its plugins.** For what fails schema validation, `request/parameters.ts` writes the error. Errors of
 *    @fastify/bearer-auth become 401 or 429 (`request/authentication.ts`). A URL that Fastify cannot decode reaches no
 *    hook, so `rejectBadUrls` (`request/admission.ts`) authenticates that request before it rejects it.
 * 5. **Node's HTTP parser**, which gives up on malformed, oversized and slow requests, usually before Fastify sees them.
 *    Fastify calls `clientErrorHandler` with the bare socket.
 *
 * The first four end in the error handler (`responses/error-handler.ts`), which turns any value into an `ApiError`.
 * Anything it does not recognize is a bug: it is logged with its stack trace, and the client gets `internal-error` with
 * the request id to quote. `sendError` (`responses/response.ts`) then sends `{"error": 40402, "message": "…"}` like any
 * other JSON. The common headers are already set.
 *
 * The fifth has neither a request nor a reply, so `sockets/socket-errors.ts` writes the same status, headers and body
 * directly to the socket and closes it: after the responses to earlier requests, and never in the middle of one.
 * `sockets/client-errors.ts` also rejects requests that Node accepts but Fastify must not see: CONNECT, methods outside
 * HTTP, more than 100 header fields, and bodies in tiny chunks.
 */

import type { AnyFailure } from '../../../core/contract/operation-types.ts'
import { type ErrorCode, errorCodes } from '../../../core/generated/error-codes.gen.ts'
import { known } from '../../../core/known.ts'
import type { StoreUnavailable } from '../../../service/store/plant-store.ts'
import type { IssuerUnavailable } from '../../auth/token-issuer.ts'

/** Values of `Retry-After` in a 503, in seconds. */
const RETRY_AFTER = { busy: '1', failing: '5', damaged: '60', restricted: '5' }

/** Messages quote the client's input, which can be as long as a request head. */
const MESSAGE_LENGTH_MAX = 500

/** An error of the contract. Throw it, or pass it to `next`, to end a request. */
export class ApiError implements Error {
  declare readonly name: string
  readonly code: ErrorCode
  readonly message: string
  readonly headers: Readonly<Record<string, string>>

  /**
   * @param message what is wrong with the request and what was expected; sent to the client
   * @param headers those that the contract documents for the status
   */
  constructor(code: ErrorCode, message: string, headers: Record<string, string> = {}) {
    this.code = code
    this.message =
      message.length > MESSAGE_LENGTH_MAX
        ? `${message.slice(0, MESSAGE_LENGTH_MAX)}…`.toWellFormed()
        : message
    this.headers = headers
  }
}

// The constructor of Error would capture a stack trace, which is never used: a tenth of the cost of a rejected request.
Object.setPrototypeOf(ApiError.prototype, Error.prototype)

/** The status of the response to an error, and its body, the contract's `Error`. */
export function toErrorResponse({ code, message }: ApiError): {
  status: number
  body: { error: number; message: string }
} {
  const { status, error } = errorCodes[code]
  return { status, body: { error, message } }
}

/** The store cannot serve the request now. Apart from a notice, the details are withheld from the client. */
export function unavailable({ reason, notice }: StoreUnavailable): ApiError {
  if (reason === 'read-only') return new ApiError('read-only-mirror', known(notice))
  const headers = { 'retry-after': RETRY_AFTER[reason] }
  if (reason === 'busy') return new ApiError('store-busy', 'the store is busy', headers)
  const message = `the store is ${reason === 'damaged' ? '' : 'temporarily '}unavailable`
  const explained = notice === undefined ? message : `${message}: ${notice}`
  return new ApiError('store-unavailable', explained, headers)
}

/** The error for a failure that an operation has returned. */
export function operationError({ failure, message }: AnyFailure): ApiError {
  const isTemporary = errorCodes[failure].status === 503
  return new ApiError(failure, message, isTemporary ? { 'retry-after': RETRY_AFTER.busy } : {})
}

/** The process has reached a limit on memory or work. */
export function serviceBusy(): ApiError {
  return new ApiError('service-busy', 'the service is busy', { 'retry-after': RETRY_AFTER.busy })
}

/** The key of a token is not known yet. */
export function issuerUnavailable({ reason, retryAfterMs }: IssuerUnavailable): ApiError {
  const why = reason === 'failing' ? 'its issuer is unavailable' : 'its key is unknown'
  // 0 would make clients retry at once.
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000))
  return new ApiError('issuer-unavailable', `the token cannot be verified yet, because ${why}`, {
    'retry-after': String(seconds),
  })
}

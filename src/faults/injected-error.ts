import type { FastifyRequest } from 'fastify'
import type { ErrorCode } from '../../core/generated/error-codes.gen.ts'
import { known } from '../../core/known.ts'
import { StoreUnavailable } from '../../service/store/plant-store.ts'
import { IssuerUnavailable } from '../auth/token-issuer.ts'
import { Challenges } from '../http/request/authentication.ts'
import { IDENTITY_ONLY, unsupported } from '../http/request/body.ts'
import { limitError } from '../http/request/rate-limit.ts'
import {
  ApiError,
  issuerUnavailable,
  operationError,
  serviceBusy,
  unavailable,
} from '../http/responses/api-error.ts'

/** An error as its example in the contract describes it, and the request that gets it. */
interface Example {
  readonly code: ErrorCode
  readonly message: string
  readonly request: FastifyRequest
}

const challenges = new Challenges(undefined, false)

/** The errors that have headers. */
const WITH_HEADERS: { readonly [Code in ErrorCode]?: (example: Example) => ApiError } = {
  'token-missing': ({ request }) => challenges.missingToken(request),
  'token-invalid': () => challenges.invalidToken(),
  'insufficient-scope': ({ request }) => {
    const { scopes } = known(request.operation)
    return challenges.insufficientScope(scopes, scopes)
  },
  'unsupported-media-type': unsupportedBody,
  'unsupported-charset': unsupportedBody,
  'unsupported-content-coding': unsupportedBody,
  'too-many-failures': ({ message }) =>
    limitError(
      { name: 'failed-authentication', code: 'too-many-failures', message },
      1000,
      10_000,
      1,
    ),
  'too-many-requests': ({ message }) =>
    limitError({ name: 'requests', code: 'too-many-requests', message }, 1000, 1000, 1),
  'store-busy': () => unavailable(new StoreUnavailable('busy', 'a fault')),
  'store-unavailable': () => unavailable(new StoreUnavailable('failing', 'a fault')),
  'service-busy': serviceBusy,
  'index-incomplete': ({ message }) => operationError({ failure: 'index-incomplete', message }),
  'issuer-unavailable': () => issuerUnavailable(new IssuerUnavailable('failing', 5000)),
  // The service closes the connection after these.
  'request-timeout': lastOfConnection,
  'headers-too-large': lastOfConnection,
  'unsupported-http-version': lastOfConnection,
}

function unsupportedBody({ code, message, request }: Example): ApiError {
  const headers = code === 'unsupported-content-coding' ? IDENTITY_ONLY : {}
  return unsupported(request, code, message, headers)
}

function lastOfConnection({ code, message }: Example): ApiError {
  return new ApiError(code, message, { connection: 'close' })
}

/**
 * The error of a fault, as the service sends it.
 *
 * @param example with the message for an error that has no headers
 * @param retryAfter in seconds; by default that of the service
 */
export function injectedError(example: Example, retryAfter: number | undefined): ApiError {
  const { code, message } = example
  const error = WITH_HEADERS[code]?.(example) ?? new ApiError(code, message)
  if (retryAfter === undefined) return error
  return new ApiError(code, error.message, { ...error.headers, 'retry-after': String(retryAfter) })
}

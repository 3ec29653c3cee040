import type {
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchemaValidationError,
} from 'fastify'
import { StoreUnavailable } from '../../service/plant-store.ts'
import { InvalidJson } from '../contract/json-scanner.ts'
import { ApiError, RETRY_AFTER, sendFailure } from './api-error.ts'
import { bodyFailure } from './body.ts'
import { parameterFailure } from './parameters.ts'
import { pathOf } from './path.ts'

/** Makes an Error of the contract of whatever goes wrong with a request. */
export function handleErrors(app: FastifyInstance): void {
  app.setErrorHandler(answerError)
}

export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  // Fastify closes the connection after an invalid body, which may reset a client that is still sending before it has
  // read the response. We keep it open if the client wants that: Node reads and discards the rest until the request
  // timeout. (During shutdown the header is set on `raw` and stays.)
  const stopping = reply.raw.hasHeader('connection')
  if (!stopping && reply.hasHeader('connection')) {
    reply.header('connection', reply.raw.shouldKeepAlive ? 'keep-alive' : 'close')
  }
  return sendFailure(reply, failureOf(error, request))
}

/** The contract's word for an error of Fastify, of the store or of our own. */
function failureOf(error: unknown, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof InvalidJson) return new ApiError('invalid-json', error.message)
  if (error instanceof StoreUnavailable) {
    request.log.warn(error.message)
    const headers = { 'retry-after': RETRY_AFTER[error.reason] }
    return error.reason === 'busy'
      ? new ApiError('store-busy', 'the store is busy', headers)
      : new ApiError('store-unavailable', 'the store is temporarily unavailable', headers)
  }
  const { code, validation, validationContext } = error as FastifyError
  if (code === 'FST_ERR_VALIDATION') {
    const [found] = validation as [FastifySchemaValidationError]
    return parameterFailure(validationContext, found) ?? bodyFailure(found)
  }
  const { method } = request
  request.log.error({ err: error, method, path: pathOf(request) }, 'the service has a defect')
  return new ApiError(
    'internal-error',
    `internal error: look up request ${request.id} in the service's log`,
  )
}

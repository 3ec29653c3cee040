import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { InvalidJson } from '../../../core/json/exact-json.ts'
import { StoreUnavailable } from '../../../service/store/plant-store.ts'
import { ApiError, unavailable } from './api-error.ts'
import { createRejectionLog, getPath, type LogRejection, logOf } from './request-log.ts'
import { sendError } from './response.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** For requests that are rejected because the store is unavailable. */
    logUnavailable: LogRejection
  }
}

/** Makes an application send its errors as those of the contract. */
export function handleErrors(app: FastifyInstance): void {
  const summary = 'rejected more requests because the store is unavailable'
  app.decorate('logUnavailable', createRejectionLog(app, summary))
  app.setErrorHandler(handleError)
}

/** Fastify's error handler: sends any error as one of the contract's. See api-error.ts for the whole flow. */
export function handleError(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  // Fastify closes the connection after an invalid body. It stays open if the client wants that: Node reads and discards
  // the rest until the request timeout. (During shutdown, the header is set on `raw` and stays.)
  const stopping = reply.raw.hasHeader('connection')
  if (!stopping && reply.hasHeader('connection')) {
    reply.header('connection', reply.raw.shouldKeepAlive ? 'keep-alive' : 'close')
  }
  return sendError(reply, toApiError(error, request))
}

/**
 * The error of the contract for any error. Also logs what is withheld from the client: why the store is unavailable, or
 * the details of a bug.
 */
export function toApiError(error: unknown, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof InvalidJson) return new ApiError('invalid-json', error.message)
  if (error instanceof StoreUnavailable) {
    // The configuration of a mirror is no problem to report.
    if (error.reason !== 'read-only') request.server.logUnavailable(request, error.message)
    return unavailable(error)
  }
  const { method } = request
  logOf(request).error({ err: error, method, path: getPath(request) }, 'internal error')
  return new ApiError(
    'internal-error',
    `internal error: look up request ${request.id} in the service's log`,
  )
}

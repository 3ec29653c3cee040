import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Operation } from '../../../contract/contract.ts'
import { ApiError } from '../responses/api-error.ts'
import { handleError } from '../responses/error-handler.ts'
import { addCommonHeaders } from '../responses/response-headers.ts'
import type { Cors } from './cors.ts'
import {
  countRepetitions,
  headersError,
  isPath,
  repeatedHeader,
  targetError,
} from './request-head.ts'
import { type RouteTable, routeError, sendOptions } from './route-table.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The requested operation; undefined outside the contract. Fastify creates its `routeOptions` on each access. */
    operation: Operation | undefined
  }
}

/**
 * An `onRequest` hook that admits or rejects each request from its head alone. Checks, in this order: that the token is
 * unambiguous, the token, that the head is well-formed, and that the path and method exist. An anonymous client thus
 * learns only that it needs a token.
 *
 * @param routes all routes of the application
 */
export function admitRequest(routes: RouteTable): onRequestHookHandler {
  return (request, reply, next) => {
    const { server } = request
    const repetitions = countRepetitions(request.raw)
    if (repetitions.authorizations > 1) return next(repeatedHeader('Authorization'))
    const isRouted = routes.hasRoute(request)
    const path = isRouted ? undefined : routes.find(request)
    const config = isRouted ? request.routeOptions.config : path?.route?.config
    if (isRouted) {
      request.operation = config?.operation
      server.requestMetrics?.setRoute(reply.raw, config?.metricsRoute)
    }
    const finish = (error: Error | undefined = headersError(request.raw, repetitions)) => {
      if (error !== undefined || isRouted) next(error)
      else if (path !== undefined && request.method === 'OPTIONS') sendOptions(reply, path)
      else next(routeError(request, path))
    }
    if (config?.open) finish()
    else server.authenticate(request, reply, finish)
  }
}

/**
 * Creates a function for Fastify's option `frameworkErrors`, which rejects URLs that Fastify cannot decode. Such a
 * request reaches no hook, so its headers are added and its token is checked here.
 */
export function rejectBadUrls(cors: Cors | undefined) {
  return (_error: Error, request: FastifyRequest, reply: FastifyReply): void => {
    const urlError = isPath(request.url)
      ? new ApiError('malformed-request', 'the path is not valid percent-encoded UTF-8')
      : targetError(request.url)
    const reject = (error: Error = urlError) => handleError(error, request, reply)
    const authenticate = (error?: Error) => {
      if (error !== undefined) reject(error)
      else request.server.authenticate(request, reply, reject)
    }
    addCommonHeaders(request, reply)
    if (cors === undefined) authenticate()
    else cors.apply(request, reply, authenticate)
  }
}

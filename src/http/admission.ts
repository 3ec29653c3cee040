import { maxHeaderSize } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import findMyWay from 'find-my-way'
import type { Operation } from '../contract/contract.ts'
import { ApiError, serviceBusy } from './api-error.ts'
import type { Authenticate } from './authentication.ts'
import { answerError } from './error-handler.ts'
import { pathOf } from './path.ts'
import { headersFailure, isPath, repeated, repetitionsIn, targetFailure } from './request-head.ts'
import type { RequestScheduler } from './request-scheduler.ts'
import { addCommonHeaders } from './response-headers.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What is asked for, if it is in the contract. Fastify's own `routeOptions` are made anew each time. */
    operation: Operation | undefined
  }
  interface FastifyContextConfig {
    /** The route may be used without a token. No route may unless it says so. */
    open?: boolean
  }
}

/** As long as a path can be, so that the contract is what judges a parameter of it. */
export const MAX_PARAMETER = maxHeaderSize

interface Path {
  readonly methods: Set<string>
  /** The media types that its PATCH accepts, if it has one. */
  acceptPatch?: string | undefined
  /** One of its routes; whether it is open is known only when all hooks have had their say. */
  readonly route?: RouteOptions
}

/**
 * Admits or rejects a request from its head alone. Checks, in this order: that the token is unambiguous, the token
 * itself, that the head is well-formed, and that the path and method exist. So an anonymous client learns only that
 * it needs a token.
 */
export function admit(
  app: FastifyInstance,
  authenticate: Authenticate,
  scheduler: RequestScheduler,
): void {
  const paths = new Map<string, Path>()
  const everywhere: Path = { methods: new Set() }
  const router = findMyWay({ maxParamLength: MAX_PARAMETER })
  app.decorateRequest('operation')

  app.addHook('onRoute', (route: RouteOptions) => {
    const { url, method } = route
    const known = paths.get(url)
    const path: Path = known ?? { methods: new Set(), route }
    for (const name of [method].flat()) {
      if (name === 'PATCH') path.acceptPatch = route.config?.operation?.mediaTypes.join(', ')
      // For GET on a prefix with a trailing slash, Fastify reports only the HEAD route.
      if (name === 'HEAD') path.methods.add('GET')
      path.methods.add(name)
      everywhere.methods.add(name)
    }
    if (known !== undefined) return
    paths.set(url, path)
    router.on('GET', url, () => {}, path)
  })

  app.addHook('onRequest', (request, reply, next) => {
    const repetitions = repetitionsIn(request.raw)
    if (repetitions.authorizations > 1) return next(repeated('Authorization'))
    const exists = !request.is404 && isPath(request.url) && !hasEmptyParameter(request.params)
    const path = exists ? undefined : pathAt(request)
    const admitted = (refusal: Error | undefined = headersFailure(request.raw, repetitions)) => {
      if (refusal !== undefined || exists) return next(refusal)
      if (path === undefined || request.method !== 'OPTIONS') return next(noRoute(request, path))
      const { acceptPatch } = path
      if (acceptPatch !== undefined) reply.header('accept-patch', acceptPatch)
      reply.code(204).header('allow', methodsOf(path)).send()
    }
    const config = exists ? request.routeOptions.config : path?.route?.config
    if (exists) request.operation = config?.operation
    if (config?.open) return admitted()
    scheduler.take(
      () => authenticate(request, reply, admitted),
      () => next(serviceBusy()),
    )
  })

  /** The path's other methods, for a request without a route. */
  function pathAt({ url }: FastifyRequest): Path | undefined {
    // RFC 9110 §9.3.7: OPTIONS * asks about the server in general.
    if (url === '*') return everywhere
    const found = isPath(url) ? router.find('GET', url) : null
    return found === null || hasEmptyParameter(found.params) ? undefined : found.store
  }

  // Reached by way of `reply.callNotFound` only, as for a file that the docs do not have.
  app.setNotFoundHandler((request) => {
    throw noRoute(request, undefined)
  })
}

/** A URL that cannot be decoded never comes to a route, and so to no hook. */
export function refuseUrl(authenticate: Authenticate) {
  return (_error: Error, request: FastifyRequest, reply: FastifyReply): void => {
    const refusal = isPath(request.url)
      ? new ApiError('malformed-request', 'the path is not percent-encoded UTF-8')
      : targetFailure(request.url)
    addCommonHeaders(request, reply)
    authenticate(request, reply, (error = refusal) => answerError(error, request, reply))
  }
}

/** The router matches `/plants/` as a path with an empty id. Only a wildcard may be empty. */
function hasEmptyParameter(parameters: unknown): boolean {
  const values = parameters as Record<string, string>
  for (const name in values) if (values[name] === '' && name !== '*') return true
  return false
}

function noRoute(request: FastifyRequest, path: Path | undefined): ApiError {
  if (!isPath(request.url)) return targetFailure(request.url)
  const url = pathOf(request)
  if (path === undefined) return new ApiError('unknown-path', `unknown path ${url}`)
  const allow = methodsOf(path)
  const message = `${url} does not support ${request.method}; it supports ${allow}`
  return new ApiError('method-not-allowed', message, { allow })
}

/** As `Allow` lists them (RFC 9110 §10.2.1). */
function methodsOf({ methods }: Path): string {
  return [...methods, 'OPTIONS'].join(', ')
}

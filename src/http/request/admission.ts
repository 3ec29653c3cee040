import { METHODS, maxHeaderSize } from 'node:http'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  RouteOptions,
} from 'fastify'
import type { Operation } from '../../../core/contract/contract.ts'
import { propertiesOf } from '../../../core/known.ts'
import { ApiError } from '../responses/api-error.ts'
import { handleError } from '../responses/error-handler.ts'
import { getPath } from '../responses/request-log.ts'
import { addCommonHeaders } from '../responses/response.ts'
import type { Cors } from './cors.ts'
import {
  countRepetitions,
  headersError,
  isPath,
  repeatedHeader,
  targetError,
} from './request-head.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The requested operation; undefined outside the contract. Fastify creates its `routeOptions` on each access. */
    operation: Operation | undefined
  }
  interface FastifyContextConfig {
    /** Whether requests need no token. */
    open?: boolean
    /** The path, if the route is for the methods that it does not support. */
    otherMethods?: Path
  }
}

/**
 * An `onRequest` hook that admits or rejects each request from its head alone. Checks, in this order: that the token is
 * unambiguous, the token, that the head is well-formed, and that the path and method exist. An anonymous client thus
 * learns only that it needs a token.
 */
export function admitRequest(paths: Paths): onRequestHookHandler {
  return (request, reply, next) => {
    const { server } = request
    const repetitions = countRepetitions(request.raw)
    if (repetitions.authorizations > 1) return next(repeatedHeader('Authorization'))
    const config = hasPath(request) ? request.routeOptions.config : undefined
    const path = request.url === '*' ? paths.server : config?.otherMethods
    const isServed = config !== undefined && path === undefined
    if (isServed) {
      request.operation = config.operation
      server.requestMetrics?.setRoute(reply.raw, config.metricsRoute)
    }
    const finish = (error: Error | undefined = headersError(request.raw, repetitions)) => {
      if (error !== undefined || isServed) next(error)
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

/** As long as a path can be, so that the contract decides which path parameters are valid. */
export const PARAMETER_LENGTH_MAX = maxHeaderSize

/** What a path of the service supports. */
interface Path {
  readonly methods: Set<string>
  /** The media types that PATCH accepts, if the path has it. */
  acceptPatch?: string | undefined
}

/** The paths of the service and their methods, for 405 and OPTIONS. */
export class Paths {
  /** The methods of all paths, for `OPTIONS *` (RFC 9110 §9.3.7). */
  readonly server: Path = { methods: new Set() }
  readonly #app: FastifyInstance
  /** Each with one of its routes. Whether that is open is known only after all `onRoute` hooks have run. */
  readonly #paths = new Map<string, Path & { readonly route: RouteOptions }>()

  /** Call it before the application's first route is added. */
  constructor(app: FastifyInstance) {
    this.#app = app
    app.addHook('onRoute', (route) => this.#add(route))
  }

  #add(route: RouteOptions): void {
    const { url, method, config } = route
    if (config?.otherMethods !== undefined) return
    const path = this.#paths.get(url) ?? { methods: new Set(), route }
    this.#paths.set(url, path)
    for (const name of [method].flat()) {
      if (name === 'PATCH') path.acceptPatch = config?.operation?.mediaTypes.join(', ')
      path.methods.add(name)
      // HEAD works wherever GET does. A later hook adds it to the routes of the docs.
      if (name === 'GET') path.methods.add('HEAD')
      this.server.methods.add(name)
    }
  }

  /** Routes the other methods of all paths to `admitRequest`, which responds. Call it after the last route is added. */
  routeOtherMethods(): void {
    const all = METHODS.filter((method) => method !== 'CONNECT')
    const { supportedMethods } = this.#app
    for (const each of all) if (!supportedMethods.includes(each)) this.#app.addHttpMethod(each)
    for (const [url, { route, ...path }] of this.#paths) {
      const method = all.filter((each) => !path.methods.has(each))
      const config = { otherMethods: path, open: route.config?.open ?? false }
      this.#app.route({ method, url, config, handler: () => {} })
    }
  }
}

/** Whether the URL of a request is a path of the service, even if that does not support the method. */
function hasPath({ is404, url, params }: FastifyRequest): boolean {
  return !is404 && isPath(url) && !hasEmptyParameter(params)
}

/** The router matches `/plants/` as a path with an empty id. Only a wildcard can be empty. */
function hasEmptyParameter(parameters: unknown): boolean {
  const values = propertiesOf(parameters)
  for (const name in values) if (values[name] === '' && name !== '*') return true
  return false
}

/** Responds to OPTIONS (RFC 9110 §9.3.7), with `Accept-Patch` if there is a PATCH (RFC 5789 §3.1). */
function sendOptions(reply: FastifyReply, path: Path): void {
  if (path.acceptPatch !== undefined) reply.header('accept-patch', path.acceptPatch)
  reply.code(204).header('allow', listMethods(path)).send()
}

/** Why a request has no route: 405 if its path exists, otherwise 404, or 400 if its target is not a path. */
export function routeError(request: FastifyRequest, path: Path | undefined): ApiError {
  if (!isPath(request.url)) return targetError(request.url)
  const url = getPath(request)
  if (path === undefined) return new ApiError('unknown-path', `unknown path ${url}`)
  const methods = listMethods(path)
  const message = `${url} does not support ${request.method}; it supports ${methods}`
  return new ApiError('method-not-allowed', message, { allow: methods })
}

/** The value of `Allow` (RFC 9110 §10.2.1). */
function listMethods({ methods }: Path): string {
  return [...methods, 'OPTIONS'].join(', ')
}

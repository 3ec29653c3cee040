import { maxHeaderSize } from 'node:http'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  RouteOptions,
} from 'fastify'
import findMyWay from 'find-my-way'
import type { Operation } from '../../../contract/contract.ts'
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

/** As long as a path can be, so that the contract decides which path parameters are valid. */
export const PARAMETER_LENGTH_MAX = maxHeaderSize

/** A path of the service, such as `/plants/{id}`. */
interface Path {
  readonly methods: Set<string>
  /** The media types that PATCH accepts, if the path has it. */
  acceptPatch?: string | undefined
  /** One of its routes. Whether it is open is known only after all `onRoute` hooks have run. */
  readonly route?: RouteOptions
}

/** The paths of the service and their methods, for 404, 405 and OPTIONS. */
export class RouteTable {
  readonly #paths = new Map<string, Path>()
  /** The methods of all paths, for `OPTIONS *`. */
  readonly #server: Path = { methods: new Set() }
  readonly #router = findMyWay({ maxParamLength: PARAMETER_LENGTH_MAX })
  /**
   * The segments of the paths without parameters, such as `batch`. Includes the empty one before the first slash. An
   * array, because a set computes a hash of each string that it is asked for.
   */
  readonly #segments: string[] = []

  /** Call it before the application's first route is added. */
  constructor(app: FastifyInstance) {
    app.addHook('onRoute', (route) => this.#add(route))
  }

  #add(route: RouteOptions): void {
    const { url, method } = route
    const known = this.#paths.get(url)
    const path: Path = known ?? { methods: new Set(), route }
    for (const name of [method].flat()) {
      if (name === 'PATCH') path.acceptPatch = route.config?.operation?.mediaTypes.join(', ')
      path.methods.add(name)
      // HEAD works wherever GET does. A later hook adds it to the routes of the docs.
      if (name === 'GET') path.methods.add('HEAD')
      this.#server.methods.add(name)
    }
    if (known !== undefined) return
    this.#paths.set(url, path)
    this.#router.on('GET', url, () => {}, path)
    if (!/[:*]/.test(url)) for (const segment of url.split('/')) this.#segments.push(segment)
  }

  /** Whether a request has a route of its own rather than Fastify's for unknown paths or for another path. */
  hasRoute(request: FastifyRequest): boolean {
    const { is404, url, params, method } = request
    if (is404 || !isPath(url)) return false
    if (!this.#hasSegment(params)) return true
    // For a method that `/plants/batch` lacks, Fastify falls back to `/plants/{id}`.
    return this.find(request)?.methods.has(method) ?? false
  }

  /** Whether a path without parameters can match too. Spares most requests a second search of the routes. */
  #hasSegment(parameters: unknown): boolean {
    const values: Record<string, string> = Object(parameters)
    for (const name in values) {
      const value = String(values[name])
      if (this.#segments.includes(value.slice(value.lastIndexOf('/') + 1))) return true
    }
    return false
  }

  /** The path of a request, even if it does not support the method. */
  find({ url }: FastifyRequest): Path | undefined {
    // RFC 9110 §9.3.7: OPTIONS * asks about the server in general.
    if (url === '*') return this.#server
    const found = isPath(url) ? this.#router.find('GET', url) : null
    return found === null || hasEmptyParameter(found.params) ? undefined : found.store
  }
}

/** The router matches `/plants/` as a path with an empty id. Only a wildcard can be empty. */
function hasEmptyParameter(parameters: unknown): boolean {
  const values: Record<string, string> = Object(parameters)
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

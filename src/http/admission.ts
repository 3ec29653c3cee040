import { maxHeaderSize } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import findMyWay from 'find-my-way'
import type { Operation } from '../contract/contract.ts'
import type { Authenticate } from './authentication.ts'
import { answerError } from './errors.ts'
import { Failure, serviceBusy } from './failure.ts'
import { pathOf } from './path.ts'
import { addCommonHeaders } from './response-headers.ts'
import type { Turns } from './turns.ts'

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
  /** One of its routes; whether it is open is known only when all hooks have had their say. */
  readonly route: RouteOptions
}

/**
 * Decides who gets in before anything of the request but its head is read: first whether the head is
 * unambiguous, then who asks, then whether there is such a path and method. So an anonymous request
 * learns nothing but that it needs a token.
 */
export function admit(app: FastifyInstance, authenticate: Authenticate, turns: Turns): void {
  const paths = new Map<string, Path>()
  const router = findMyWay({ maxParamLength: MAX_PARAMETER })
  app.decorateRequest('operation')

  app.addHook('onRoute', (route: RouteOptions) => {
    const { url, method } = route
    const known = paths.get(url)
    const path = known ?? { methods: new Set(), route }
    for (const name of [method].flat()) {
      // Fastify says nothing of the GET of a prefix with a slash behind it, only of its HEAD.
      if (name === 'HEAD') path.methods.add('GET')
      path.methods.add(name)
    }
    if (known !== undefined) return
    paths.set(url, path)
    router.on('GET', url, () => {}, path)
  })

  app.addHook('onRequest', (request, reply, next) => {
    const ambiguity = ambiguityOf(request)
    if (ambiguity !== undefined) return next(ambiguity)
    const path: Path | undefined = request.is404
      ? router.find('GET', pathOf(request))?.store
      : undefined
    const admitted = (refusal?: Error) => {
      if (refusal !== undefined || !request.is404) return next(refusal)
      if (path === undefined || request.method !== 'OPTIONS') return next(noRoute(request, path))
      reply.code(204).header('allow', methodsOf(path)).send()
    }
    const { config } = path?.route ?? request.routeOptions
    if (path === undefined) request.operation = config?.operation
    if (config?.open) return admitted()
    turns.take(
      () => authenticate(request, reply, admitted),
      () => next(serviceBusy()),
    )
  })

  // Reached by way of `reply.callNotFound` only, as for a file that the docs do not have.
  app.setNotFoundHandler((request) => {
    throw noRoute(request, undefined)
  })
}

/** A URL that cannot be decoded never comes to a route, and so to no hook. */
export function refuseUrl(authenticate: Authenticate) {
  return (_error: Error, request: FastifyRequest, reply: FastifyReply): void => {
    const refusal = new Failure('malformed-request', 'the path is not percent-encoded UTF-8')
    addCommonHeaders(request, reply)
    authenticate(request, reply, (error = refusal) => answerError(error, request, reply))
  }
}

function noRoute(request: FastifyRequest, path: Path | undefined): Failure {
  const url = pathOf(request)
  if (path === undefined) return new Failure('unknown-path', `there is nothing at ${url}`)
  const allow = methodsOf(path)
  const message = `${url} does not have the method ${request.method}; it has ${allow}`
  return new Failure('method-not-allowed', message, { allow })
}

/** As `Allow` lists them (RFC 9110 §10.2.1). */
function methodsOf({ methods }: Path): string {
  return [...methods, 'OPTIONS'].join(', ')
}

/**
 * Node takes the first of several such headers, a proxy in front of us perhaps the last; then the two
 * do not speak of the same request (RFC 9112 §3.2).
 */
function ambiguityOf({ raw }: FastifyRequest): Failure | undefined {
  let hosts = 0
  let authorizations = 0
  for (let index = 0; index < raw.rawHeaders.length; index += 2) {
    const name = raw.rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
    if (name?.length === 13 && name.toLowerCase() === 'authorization') authorizations++
  }
  if (hosts > 1) return malformed('more than one Host header')
  if (hosts === 0 && raw.httpVersion === '1.1') return malformed('no Host header')
  return authorizations > 1 ? malformed('more than one Authorization header') : undefined
}

function malformed(what: string): Failure {
  return new Failure('malformed-request', `the request has ${what}`)
}

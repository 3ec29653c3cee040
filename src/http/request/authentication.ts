import bearerAuth from '@fastify/bearer-auth'
import rateLimiting from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Grant, nameScopes, type Scope } from '../../../core/contract/scopes.ts'
import { known } from '../../../core/known.ts'
import type { AccessTokens } from '../../auth/access-tokens.ts'
import { IssuerUnavailable } from '../../auth/token-issuer.ts'
import type { Config } from '../../config/config.ts'
import { codeOf } from '../../system/user-errors.ts'
import { ApiError, issuerUnavailable } from '../responses/api-error.ts'
import { createRejectionLog, getPath, type LogRejection } from '../responses/request-log.ts'
import { failureLimit, type RateLimit, tokenLimit } from './rate-limit.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Set by `authenticateBearers`. */
    authenticate: Authenticate
  }
  interface FastifyRequest {
    /** The permissions of the request's token, once verified. */
    grant: Grant | undefined
    /** The token itself, once verified. */
    accessToken: string
  }
}

/** Verifies a request's token and its scopes. Calls `done` with an error if the request must be rejected. */
export type Authenticate = (
  request: FastifyRequest,
  reply: FastifyReply,
  done: (error?: Error) => void,
) => void

/** The resource that challenges name (RFC 9728 §5.1). */
type Resource = { readonly metadataUrl: string } | undefined

const REALM = 'Bearer realm="plant-store"'

/**
 * Sets up `app.authenticate` for bearer tokens (RFC 6750) with @fastify/bearer-auth, called directly rather than
 * through its hook. Limits apply before the store is queried: an address that has used up its failures learns nothing
 * and costs almost nothing. A token that was valid before is exempt from the limit per address, so one client cannot
 * lock out others that share its proxy and keep their tokens.
 *
 * @param resource is named in challenges; undefined without an issuer
 */
export async function authenticateBearers(
  app: FastifyInstance,
  tokens: AccessTokens,
  config: Config,
  resource: Resource,
): Promise<void> {
  await app.register(rateLimiting, { global: false })
  const authentication = new BearerAuthentication(
    app,
    tokens,
    config,
    new Challenges(resource, config.docs),
  )
  app.decorateRequest('grant')
  app.decorateRequest('accessToken', '')
  await app.register(bearerAuth, {
    addHook: false,
    keys: [],
    // The scheme is case-insensitive (RFC 9110 §11.1).
    specCompliance: 'rfc6749',
    verifyErrorLogLevel: 'debug',
    auth: (token, request) => authentication.authenticate(token, request),
  })
  const verifyBearerAuth = known(app.verifyBearerAuth)
  app.decorate('authenticate', (request, reply, done) =>
    verifyBearerAuth(request, reply, (error) => {
      if (error === undefined) done()
      else authentication.explain(error, request).then(done)
    }),
  )
}

class BearerAuthentication {
  readonly #tokens: AccessTokens
  readonly #challenges: Challenges
  readonly #issuerScopes: Readonly<Record<Scope, string>>
  readonly #failures: RateLimit | undefined
  readonly #requests: RateLimit | undefined
  readonly #logRejection: LogRejection

  constructor(
    app: FastifyInstance,
    tokens: AccessTokens,
    { authFailureLimit, rateLimit, oidcReadScope, oidcWriteScope }: Config,
    challenges: Challenges,
  ) {
    this.#tokens = tokens
    this.#challenges = challenges
    this.#issuerScopes = { read: oidcReadScope, write: oidcWriteScope }
    this.#failures = failureLimit(app, authFailureLimit)
    this.#requests = tokenLimit(app, rateLimit)
    this.#logRejection = createRejectionLog(app, 'rejected more access tokens')
  }

  /** Verifies a token, counts the request, and requires the scopes. Throws, or rejects with, an ApiError. */
  authenticate(token: string, request: FastifyRequest): true | Promise<true> {
    const grant = this.#tokens.verified(token)
    if (grant !== undefined) return this.#admit(request, token, grant)
    return this.#verify(token, request).then((grant) => this.#admit(request, token, grant))
  }

  #admit(request: FastifyRequest, token: string, grant: Grant): true | Promise<true> {
    request.grant = grant
    request.accessToken = token
    if (this.#requests === undefined) return this.#requireScopes(request, grant)
    return this.#requests.count(request).then((limited) => {
      if (limited !== undefined) throw limited
      return this.#requireScopes(request, grant)
    })
  }

  async #verify(token: string, request: FastifyRequest): Promise<Grant> {
    const limited = this.#tokens.isKnown(token) ? undefined : await this.#failures?.check(request)
    const result = limited ?? (await this.#verifyToken(token))
    if (!(result instanceof ApiError)) return result
    const { method, ip } = request
    const details = { address: ip, method, path: getPath(request) }
    this.#logRejection(request, 'rejected an access token', details)
    throw limited ?? (await this.#failures?.count(request)) ?? result
  }

  /** Resolves to the error for a token that counts as a failure. */
  async #verifyToken(token: string): Promise<Grant | ApiError> {
    try {
      return (await this.#tokens.verify(token)) ?? this.#challenges.invalidToken()
    } catch (error) {
      if (!(error instanceof IssuerUnavailable)) throw error
      const unavailable = issuerUnavailable(error)
      if (error.reason === 'failing') throw unavailable
      return unavailable
    }
  }

  #requireScopes({ operation }: FastifyRequest, { scopes, subject }: Grant): true {
    const needed = operation?.scopes ?? []
    if (needed.every((scope) => scopes.includes(scope))) return true
    const names = subject === undefined ? needed : needed.map((scope) => this.#issuerScopes[scope])
    throw this.#challenges.insufficientScope(needed, names)
  }

  /** Resolves to the error for a request without a token, or to the given error if it has another cause. */
  async explain(error: Error, request: FastifyRequest): Promise<Error> {
    if (!codeOf(error)?.startsWith('FST_BEARER_AUTH')) return error
    return (await this.#failures?.count(request)) ?? this.#challenges.missingToken(request)
  }
}

/** The errors with a challenge (RFC 6750 §3). */
export class Challenges {
  readonly #resource: Resource
  readonly #hasDocs: boolean

  /** @param hasDocs whether the service serves the docs, which a person may have looked for at another path */
  constructor(resource: Resource, hasDocs: boolean) {
    this.#resource = resource
    this.#hasDocs = hasDocs
  }

  /** RFC 6750 §3.1: a request without credentials for the scheme gets a challenge without `error`. */
  missingToken({ operation }: Pick<FastifyRequest, 'operation'>): ApiError {
    const isUnknown = operation === undefined
    const help = isUnknown && this.#hasDocs ? ' (the docs need none: /documentation)' : ''
    const message = `missing access token: send it as Authorization: Bearer <token>${help}`
    return new ApiError('token-missing', message, this.#challenge())
  }

  invalidToken(): ApiError {
    const message = 'the access token is unknown, expired or revoked'
    return new ApiError('token-invalid', message, this.#challenge('error="invalid_token"'))
  }

  /** @param names what the issuer of the token calls the needed scopes */
  insufficientScope(needed: readonly Scope[], names: readonly string[]): ApiError {
    const message = `this operation requires a token with the ${nameScopes(needed)}`
    const headers = this.#challenge('error="insufficient_scope"', `scope="${names.join(' ')}"`)
    return new ApiError('insufficient-scope', message, headers)
  }

  #challenge(...parameters: readonly string[]): Record<string, string> {
    const metadata = this.#resource && `resource_metadata="${this.#resource.metadataUrl}"`
    const all = [REALM, ...parameters, ...(metadata === undefined ? [] : [metadata])]
    return { 'www-authenticate': all.join(', ') }
  }
}

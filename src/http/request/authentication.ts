import bearerAuth from '@fastify/bearer-auth'
import rateLimiting from '@fastify/rate-limit'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Grant, nameScopes } from '../../../contract/scopes.ts'
import type { AccessTokens } from '../../../service/access-tokens.ts'
import { IssuerUnavailable } from '../../../service/token-issuer.ts'
import type { Config } from '../../config/config.ts'
import { ApiError, issuerUnavailable } from '../responses/api-error.ts'
import { RejectionLog } from '../responses/rejection-log.ts'
import { getPath } from '../responses/request-log.ts'
import { failureLimit, tokenLimit } from './rate-limit.ts'

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
  resource: { readonly metadataUrl: string } | undefined,
): Promise<void> {
  const { authFailureLimit, rateLimit, oidcReadScope, oidcWriteScope } = config
  const issuerScopes = { read: oidcReadScope, write: oidcWriteScope }
  await app.register(rateLimiting, { global: false })
  const failures = failureLimit(app, authFailureLimit)
  const requests = tokenLimit(app, rateLimit)
  const rejectionLog = new RejectionLog(app, 'rejected more access tokens')
  app.decorateRequest('grant')
  app.decorateRequest('accessToken', '')

  await app.register(bearerAuth, {
    addHook: false,
    keys: [],
    // The scheme is case-insensitive (RFC 9110 §11.1).
    specCompliance: 'rfc6749',
    verifyErrorLogLevel: 'debug',
    auth: (token, request) => {
      const grant = tokens.verified(token)
      if (grant !== undefined) return admit(request, token, grant)
      return verify(token, request).then((grant) => admit(request, token, grant))
    },
  })

  function admit(request: FastifyRequest, token: string, grant: Grant): true | Promise<true> {
    request.grant = grant
    request.accessToken = token
    if (requests === undefined) return requireScopes(request, grant)
    return requests.count(request).then((limited) => {
      if (limited !== undefined) throw limited
      return requireScopes(request, grant)
    })
  }

  async function verify(token: string, request: FastifyRequest): Promise<Grant> {
    const limited = tokens.isKnown(token) ? undefined : await failures?.check(request)
    const result = limited ?? (await verifyToken(token))
    if (!(result instanceof ApiError)) return result
    logRejection(request)
    throw limited ?? (await failures?.count(request)) ?? result
  }

  /** Resolves to the error for a token that counts as a failure. */
  async function verifyToken(token: string): Promise<Grant | ApiError> {
    try {
      return (await tokens.verify(token)) ?? invalidToken()
    } catch (error) {
      if (!(error instanceof IssuerUnavailable)) throw error
      const unavailable = issuerUnavailable(error)
      if (error.reason === 'failing') throw unavailable
      return unavailable
    }
  }

  function logRejection(request: FastifyRequest): void {
    const { method, ip } = request
    const details = { address: ip, method, path: getPath(request) }
    rejectionLog.write(request, 'rejected an access token', details)
  }

  /** RFC 6750 §3.1: a request without credentials for the scheme gets a challenge without `error`. */
  async function withChallenge(error: Error, request: FastifyRequest): Promise<Error> {
    if (!(error as FastifyError).code?.startsWith('FST_BEARER_AUTH')) return error
    return (await failures?.count(request)) ?? missingToken()
  }

  function missingToken(): ApiError {
    const message = 'missing access token: send it as Authorization: Bearer <token>'
    return new ApiError('token-missing', message, challenge())
  }

  function invalidToken(): ApiError {
    const message = 'the access token is unknown, expired or revoked'
    return new ApiError('token-invalid', message, challenge('error="invalid_token"'))
  }

  function requireScopes({ operation }: FastifyRequest, { scopes, subject }: Grant): true {
    const needed = operation?.scopes ?? []
    if (needed.every((scope) => scopes.includes(scope))) return true
    const message = `this operation requires a token with the ${nameScopes(needed)}`
    const names = subject === undefined ? needed : needed.map((scope) => issuerScopes[scope])
    const headers = challenge('error="insufficient_scope"', `scope="${names.join(' ')}"`)
    throw new ApiError('insufficient-scope', message, headers)
  }

  function challenge(...parameters: readonly string[]): Record<string, string> {
    const metadata = resource && `resource_metadata="${resource.metadataUrl}"`
    const all = [REALM, ...parameters, ...(metadata === undefined ? [] : [metadata])]
    return { 'www-authenticate': all.join(', ') }
  }

  const verifyBearerAuth = app.verifyBearerAuth as bearerAuth.verifyBearerAuth
  app.decorate('authenticate', (request, reply, done) =>
    verifyBearerAuth(request, reply, (error) => {
      if (error === undefined) done()
      else withChallenge(error, request).then(done)
    }),
  )
}

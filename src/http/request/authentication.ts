import bearerAuth from '@fastify/bearer-auth'
import rateLimiting from '@fastify/rate-limit'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Grant, nameScopes } from '../../../contract/scopes.ts'
import type { AccessTokens } from '../../../service/access-tokens.ts'
import type { Limit } from '../../config/setting-values.ts'
import { ApiError } from '../api-error.ts'
import { failureLimit, tokenLimit } from './rate-limit.ts'
import { RejectionLog } from './rejection-log.ts'
import { getPath } from './request-head.ts'

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

export interface AuthenticationLimits {
  /** Requests without a valid token, per address. */
  readonly authFailureLimit: Limit
  /** Requests with a valid token, per token. */
  readonly rateLimit: Limit
}

const REALM = 'Bearer realm="plant-store"'

const MISSING_TOKEN = new ApiError(
  'token-missing',
  'missing access token: send it as Authorization: Bearer <token>',
  { 'www-authenticate': REALM },
)

const INVALID_TOKEN = new ApiError(
  'token-invalid',
  'the access token is unknown, expired or revoked',
  { 'www-authenticate': `${REALM}, error="invalid_token"` },
)

/**
 * Sets up `app.authenticate` for bearer tokens (RFC 6750) with @fastify/bearer-auth, called directly rather than
 * through its hook. Limits apply before the store is queried: an address that has used up its failures learns nothing
 * and costs almost nothing. A token that was valid before is exempt from the limit per address, so one client cannot
 * lock out others that share its proxy.
 */
export async function authenticateBearers(
  app: FastifyInstance,
  tokens: AccessTokens,
  { authFailureLimit, rateLimit }: AuthenticationLimits,
): Promise<void> {
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
    const grant = limited === undefined ? await tokens.verify(token) : undefined
    if (grant !== undefined) return grant
    logRejection(request)
    throw limited ?? (await failures?.count(request)) ?? INVALID_TOKEN
  }

  function logRejection(request: FastifyRequest): void {
    const { method, ip } = request
    const details = { address: ip, method, path: getPath(request) }
    rejectionLog.write(request, 'rejected an access token', details)
  }

  /** RFC 6750 §3.1: a request without credentials for the scheme gets a challenge without `error`. */
  async function withChallenge(error: Error, request: FastifyRequest): Promise<Error> {
    if (!(error as FastifyError).code?.startsWith('FST_BEARER_AUTH')) return error
    return (await failures?.count(request)) ?? MISSING_TOKEN
  }

  const verifyBearerAuth = app.verifyBearerAuth as bearerAuth.verifyBearerAuth
  app.decorate('authenticate', (request, reply, done) =>
    verifyBearerAuth(request, reply, (error) => {
      if (error === undefined) done()
      else withChallenge(error, request).then(done)
    }),
  )
}

function requireScopes({ operation }: FastifyRequest, { scopes }: Grant): true {
  const needed = operation?.scopes ?? []
  if (needed.every((scope) => scopes.includes(scope))) return true
  const message = `this operation requires a token with the ${nameScopes(needed)}`
  throw new ApiError('insufficient-scope', message, {
    'www-authenticate': `${REALM}, error="insufficient_scope", scope="${needed.join(' ')}"`,
  })
}

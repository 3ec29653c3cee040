import bearerAuth from '@fastify/bearer-auth'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AccessTokens } from '../../service/access-tokens.ts'
import { nameScopes } from '../../service/token-store.ts'
import { Failure } from './failure.ts'

/** Tells whether the request carries a token that may do what it asks for: with a Failure if it does not. */
export type Authenticate = (
  request: FastifyRequest,
  reply: FastifyReply,
  done: (error?: Error) => void,
) => void

const REALM = 'Bearer realm="plant-store"'

/** Bearer tokens (RFC 6750) by way of @fastify/bearer-auth, called where we decide rather than as its hook. */
export async function bearerAuthentication(
  app: FastifyInstance,
  tokens: AccessTokens,
): Promise<Authenticate> {
  await app.register(bearerAuth, {
    addHook: false,
    keys: [],
    // Accepts the scheme in any case, as RFC 9110 §11.1 has it.
    specCompliance: 'rfc6749',
    verifyErrorLogLevel: 'debug',
    auth: async (token, request) => {
      await authorize(tokens, token, request)
      return true
    },
  })
  const verify = app.verifyBearerAuth as bearerAuth.verifyBearerAuth
  return (request, reply, done) =>
    verify(request, reply, (error) => done(error && failureOf(error)))
}

async function authorize(tokens: AccessTokens, token: string, request: FastifyRequest) {
  const grant = await tokens.verify(token)
  if (grant === undefined) {
    throw new Failure('token-invalid', 'the access token is unknown, expired or revoked', {
      'www-authenticate': `${REALM}, error="invalid_token"`,
    })
  }
  const needed = request.operation?.scopes ?? []
  if (!needed.every((scope) => grant.scopes.includes(scope))) {
    const message = `this operation needs a token with the ${nameScopes(needed)}`
    throw new Failure('insufficient-scope', message, {
      'www-authenticate': `${REALM}, error="insufficient_scope", scope="${needed.join(' ')}"`,
    })
  }
}

/** RFC 6750 §3.1: a request without credentials for the scheme gets a challenge without `error`. */
function failureOf(error: Error): Error {
  if (!(error as FastifyError).code?.startsWith('FST_BEARER_AUTH')) return error
  return new Failure(
    'token-missing',
    'an access token is needed, sent as Authorization: Bearer <token>',
    { 'www-authenticate': REALM },
  )
}

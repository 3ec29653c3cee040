import { inspect } from 'node:util'
import type { FastifyBaseLogger } from 'fastify'
import {
  type CryptoKey,
  createLocalJWKSet,
  errors,
  type JWSHeaderParameters,
  type JWTVerifyGetKey,
  jwtVerify,
  UnsecuredJWT,
} from 'jose'
import { type Grant, scopes as ourScopes, type Scope } from '../../core/contract/scopes.ts'
import { type Clock, systemClock, toDate } from '../../core/time/clock.ts'
import { messageOf } from '../system/user-errors.ts'
import type { KeysReading, ReadKeys } from './issuer-keys.ts'
import { IssuerUnavailable, type TokenIssuer } from './token-issuer.ts'

/** All are asymmetric: with HS256, the issuer's public key could serve as the secret. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]

/** RFC 9068 §2.1 requires the first. Issuers that do not follow it send the second, or no type. */
const TYPES = ['at+jwt', 'jwt']

/** The header of a token without a signature, whose claims can be checked without a key. */
const UNSECURED = Buffer.from('{"alg":"none"}').toString('base64url')

/** How far the clock of the issuer can be ahead. */
const LEEWAY_SECONDS = 60

/** OpenID Connect Core 1.0 §2. It bounds the cache, the keys of rate limits and the log lines. */
const SUBJECT_LENGTH_MAX = 255

/** How long keys that the issuer has withdrawn can remain in use. */
const KEYS_LIFETIME_MS = 600_000

/** How many verified tokens to remember. */
const VERIFIED_MAX = 10_000

const UNREAD: KeysReading = { json: undefined, isNew: true, retryAfterMs: 0 }

export interface IssuerTokensOptions {
  readonly issuer: string
  readonly audience: string
  /** What the issuer calls each scope. */
  readonly scopes: Readonly<Record<Scope, string>>
  readonly readKeys: ReadKeys
  readonly log?: FastifyBaseLogger | undefined
  readonly clock?: Pick<Clock, 'now'>
}

interface Keys {
  readonly json: string
  /** Resolves to undefined if no key matches. */
  readonly find: (header: JWSHeaderParameters) => Promise<CryptoKey | undefined>
}

type ExpiringGrant = Grant & { readonly expiresAt: Date }

/** Verifies the JWT access tokens of an OpenID Connect issuer (RFC 9068). */
export class IssuerTokens implements TokenIssuer {
  readonly #options: IssuerTokensOptions
  readonly #clock: Pick<Clock, 'now'>
  /** By the token's digest, in the order of verification. All were verified with the current keys. */
  readonly #verified = new Map<string, ExpiringGrant>()
  /** Kept while the issuer is unavailable. */
  #keys: Keys | undefined
  /** When to look for new keys. */
  #refreshAt = 0

  constructor(options: IssuerTokensOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#refresh()
  }

  async verify(token: string, digest: Buffer): Promise<Grant | undefined> {
    if (this.#clock.now() >= this.#refreshAt) this.#refresh()
    const key = digest.toString('latin1')
    try {
      const grant = this.#verified.get(key) ?? (await this.#verify(token, key))
      if (grant.expiresAt.getTime() > this.#clock.now()) return grant
      throw new Error('its "exp" claim has passed')
    } catch (error) {
      if (error instanceof IssuerUnavailable) throw error
      // The message can quote the token's header, which can have control characters.
      const reason = inspect(messageOf(error))
      this.#options.log?.debug(`rejected a token of the issuer: ${reason}`)
      return undefined
    }
  }

  async #verify(token: string, digest: string): Promise<ExpiringGrant> {
    const { issuer, audience } = this.#options
    const conditions = {
      issuer,
      audience,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: LEEWAY_SECONDS,
      currentDate: new Date(this.#clock.now()),
    }
    let keys = this.#keys
    const findKey: JWTVerifyGetKey = async (header, jws) => {
      requireType(header.typ)
      const key = await keys?.find(header)
      if (key !== undefined) return key
      // No key could make the token valid.
      UnsecuredJWT.decode(`${UNSECURED}.${jws.payload}.`, conditions)
      const { json, isNew, retryAfterMs } = await this.#refresh()
      if (json === undefined) throw new IssuerUnavailable('failing', retryAfterMs)
      keys = this.#keys
      const found = await keys?.find(header)
      if (found !== undefined) return found
      if (isNew) throw new Error('the issuer has no key for it')
      throw new IssuerUnavailable('key-unknown', retryAfterMs)
    }
    const { payload } = await jwtVerify(token, findKey, { algorithms: ALGORITHMS, ...conditions })
    const grant = this.#toGrant(payload)
    // Otherwise, the issuer has withdrawn the key in the meantime.
    if (keys === this.#keys) this.#remember(digest, grant)
    return grant
  }

  #toGrant(claims: Record<string, unknown>): ExpiringGrant {
    const { sub, exp, name } = claims
    if (!isSubject(sub)) throw new Error('invalid "sub" claim')
    const granted = readGranted(claims)
    return {
      name: isSubject(name) ? name : sub,
      subject: sub,
      scopes: ourScopes.filter((each) => granted.includes(this.#options.scopes[each])),
      expiresAt: toDate(1000 * Number(exp)),
    }
  }

  #remember(digest: string, grant: ExpiringGrant): void {
    this.#verified.set(digest, grant)
    if (this.#verified.size <= VERIFIED_MAX) return
    const [oldest = ''] = this.#verified.keys()
    this.#verified.delete(oldest)
  }

  /** Replaces the keys if the issuer has others, and forgets what was verified with the old ones. Never rejects. */
  async #refresh(): Promise<KeysReading> {
    this.#refreshAt = this.#clock.now() + KEYS_LIFETIME_MS
    // It rejects if the thread that reads them has ended.
    const reading = await this.#options.readKeys().catch(() => UNREAD)
    const { json } = reading
    if (json !== undefined && json !== this.#keys?.json) {
      this.#keys = { json, find: keyFinder(json) }
      this.#verified.clear()
    }
    return reading
  }
}

function keyFinder(json: string): Keys['find'] {
  const find = createLocalJWKSet(JSON.parse(json))
  return async (header) => {
    try {
      return await find(header)
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return undefined
      throw error
    }
  }
}

/** @throws Error if a token is of another type, such as a logout token */
function requireType(type: unknown): void {
  if (type === undefined) return
  const name = String(type)
    .toLowerCase()
    .replace(/^application\//, '')
  if (!TYPES.includes(name)) throw new Error('unexpected "typ"')
}

/**
 * What a token grants, in the issuer's words. Application tokens of Microsoft Entra have `roles` instead of scopes, and
 * those of Auth0 can have `permissions`. In a token with scopes, they are those of the user, not all of which the app may use.
 */
function readGranted({ scope, scp, roles, permissions }: Record<string, unknown>): unknown[] {
  if (scope === undefined && scp === undefined)
    return [roles, permissions].filter(Array.isArray).flat()
  return [scope, scp].flat().join(' ').split(' ')
}

function isSubject(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= SUBJECT_LENGTH_MAX
}

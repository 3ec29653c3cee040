import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Grant, type Scope, scopes } from '../../core/contract/scopes.ts'
import { type Clock, systemClock, toDate } from '../../core/time/clock.ts'
import { SELECTOR_BYTES, type StoredToken, type TokenStore } from '../../service/token-store.ts'
import type { TokenIssuer } from './token-issuer.ts'

/** What a TokenStore does. */
export type Tokens = Pick<TokenStore, keyof TokenStore>

export interface TokenRequest {
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Undefined for a token that never expires. */
  readonly lifetimeMs?: number
}

export interface TokenOptions {
  /** A token with all scopes that is valid in addition to those in the store. */
  readonly fixedToken?: { readonly name: string; readonly token: string } | undefined
  /** Issues tokens in addition to those in the store. */
  readonly issuer?: TokenIssuer | undefined
  readonly clock?: Pick<Clock, 'now'>
}

/** Last uses are recorded to the minute only, which keeps writes rare. */
const USE_PRECISION_MS = 60_000
const NEVER = 0

/** How many tokens to remember. More are valid over time in a service that runs for long. */
const KNOWN_MAX = 10_000

/** The verification of a token, shared by all requests in one turn of the event loop. */
interface Verification {
  readonly digest: Buffer
  /** A part of the digest, because a name can be reused for another token. */
  readonly key: bigint
  /** Whether the token was valid when last verified. */
  readonly isKnown: boolean
  grant?: Promise<Grant | undefined>
  /** The grant, once it is known that there is one. */
  verified?: Grant
}

/**
 * Issues and verifies access tokens. They are opaque, shown once, and stored as SHA-256. An unsalted, fast
 * hash is enough for 256 random bits, which cannot be guessed. Tokens of another issuer are recognized by a dot, which
 * ours do not contain.
 */
export class AccessTokens {
  readonly #store: Tokens
  readonly #fixed: { readonly digest: Uint8Array; readonly grant: Grant } | undefined
  readonly #issuer: TokenIssuer | undefined
  readonly #clock: Pick<Clock, 'now'>
  /**
   * When the use of each valid token was last noted, in milliseconds since 1970; 0 for never. The token noted the
   * longest ago is first.
   */
  readonly #uses = new Map<bigint, number>()
  /** By token. Cleared each turn of the event loop, so that a revocation takes effect at once. */
  #verifications = new Map<string, Verification>()

  constructor(store: Tokens, { fixedToken, issuer, clock = systemClock }: TokenOptions = {}) {
    this.#store = store
    this.#fixed = fixedToken && {
      digest: hashToken(fixedToken.token),
      grant: { name: fixedToken.name, scopes },
    }
    this.#issuer = issuer
    this.#clock = clock
  }

  /**
   * Resolves to the grant of the token, or undefined if it is unknown, expired or revoked.
   *
   * @throws StoreUnavailable or IssuerUnavailable
   */
  verify(token: string): Promise<Grant | undefined> {
    const verification = this.#shareVerification(token)
    verification.grant ??= this.#verify(token, verification)
    return verification.grant
  }

  /** The grant of the token if it was found valid in this turn of the event loop. Saves most requests a promise. */
  verified(token: string): Grant | undefined {
    return this.#verifications.get(token)?.verified
  }

  /** Whether the token was valid when this process last verified it, as far as it remembers. Does not query the store. */
  isKnown(token: string): boolean {
    return this.#shareVerification(token).isKnown
  }

  #shareVerification(token: string): Verification {
    const existing = this.#verifications.get(token)
    if (existing !== undefined) return existing
    if (this.#verifications.size === 0) setImmediate(() => this.#clearVerifications())
    const digest = hashToken(token)
    const key = toKey(digest)
    const verification: Verification = { digest, key, isKnown: this.#uses.get(key) !== undefined }
    this.#verifications.set(token, verification)
    return verification
  }

  #clearVerifications(): void {
    this.#verifications = new Map()
  }

  async #verify(token: string, verification: Verification): Promise<Grant | undefined> {
    const { digest, key } = verification
    const grant = await this.#findGrant(token, digest, key)
    if (grant === undefined) this.#uses.delete(key)
    else verification.verified = grant
    return grant
  }

  async #findGrant(token: string, digest: Buffer, key: bigint): Promise<Grant | undefined> {
    if (this.#fixed !== undefined && timingSafeEqual(this.#fixed.digest, digest)) {
      if (!this.#uses.has(key)) this.#remember(key, NEVER)
      return this.#fixed.grant
    }
    if (this.#issuer !== undefined && token.includes('.')) {
      const grant = await this.#issuer.verify(token, digest)
      if (grant !== undefined && !this.#uses.has(key)) this.#remember(key, NEVER)
      return grant
    }
    const stored = await this.#findStored(digest)
    if (stored !== undefined) this.#noteUse(stored, key, this.#clock.now())
    return stored
  }

  /** Resolves to undefined if the token is unknown or expired. */
  async #findStored(digest: Buffer): Promise<StoredToken | undefined> {
    const stored = await this.#store.find(digest.subarray(0, SELECTOR_BYTES))
    if (stored === undefined || !timingSafeEqual(stored.digest, digest)) return undefined
    const { expiresAt } = stored
    return expiresAt !== undefined && expiresAt.getTime() <= this.#clock.now() ? undefined : stored
  }

  #noteUse({ name, lastUsedAt }: StoredToken, key: bigint, now: number): void {
    const earlier = this.#uses.get(key)
    // Another thread or process can have noted a later use.
    const noted = Math.max(earlier ?? NEVER, lastUsedAt?.getTime() ?? NEVER)
    const isDue = now - noted >= USE_PRECISION_MS
    if (isDue || earlier === undefined) this.#remember(key, isDue ? now : noted)
    if (!isDue) return
    // A failed write must not fail the request. The token's next use tries again.
    this.#store.noteUse(name, new Date(now)).catch(() => this.#remember(key, noted))
  }

  #remember(key: bigint, at: number): void {
    this.#uses.delete(key)
    this.#uses.set(key, at)
    for (const oldest of this.#uses.keys()) {
      if (this.#uses.size <= KNOWN_MAX) break
      this.#uses.delete(oldest)
    }
  }

  /**
   * Issues a token. Resolves to it, or to undefined if the name is taken.
   *
   * @throws StoreUnavailable
   */
  async issue(request: TokenRequest): Promise<string | undefined> {
    const { token, stored } = this.#createToken(request)
    return (await this.#store.add(stored)) ? token : undefined
  }

  /**
   * Issues a token unless the store has one. Resolves to whether it did.
   *
   * @param save keeps the token before it becomes valid, so that it cannot be lost
   * @throws StoreUnavailable
   */
  async issueFirst(
    request: TokenRequest,
    save: (token: string) => Promise<void>,
  ): Promise<boolean> {
    if (await this.exist()) return false
    const { token, stored } = this.#createToken(request)
    await save(token)
    return this.#store.add(stored, 1)
  }

  /**
   * Whether the store has the token. Does not count as a use of it.
   *
   * @throws StoreUnavailable
   */
  async isStored(token: string): Promise<boolean> {
    return (await this.#findStored(hashToken(token))) !== undefined
  }

  /**
   * Whether the store has a token, which can be an expired one.
   *
   * @throws StoreUnavailable
   */
  async exist(): Promise<boolean> {
    return (await this.#store.list()).length > 0
  }

  /**
   * Revokes the token with the given name. Resolves to false if there is none.
   *
   * @throws StoreUnavailable
   */
  async revoke(name: string): Promise<boolean> {
    const removed = await this.#store.remove(name)
    this.#clearVerifications()
    return removed
  }

  #createToken({ name, scopes, lifetimeMs }: TokenRequest): { token: string; stored: StoredToken } {
    const token = newToken()
    const now = this.#clock.now()
    const stored = { name, scopes, digest: hashToken(token), createdAt: new Date(now) }
    if (lifetimeMs === undefined) return { token, stored }
    const expiresAt = toDate(now + lifetimeMs)
    return { token, stored: { ...stored, expiresAt } }
  }
}

/** A new random token: `plant_` and 32 bytes in base64url. It is not stored yet. */
export function newToken(): string {
  return `plant_${randomBytes(32).toString('base64url')}`
}

function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

function toKey(digest: Buffer): bigint {
  return digest.readBigInt64LE(SELECTOR_BYTES)
}

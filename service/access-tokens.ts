import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Scope, scopes } from '../src/contract/scopes.ts'
import { SELECTOR_BYTES, type StoredToken, type TokenStore } from './token-store.ts'

/** What a valid token allows. */
export interface Grant {
  readonly name: string
  readonly scopes: readonly Scope[]
}

export interface TokenRequest {
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Undefined for a token that never expires. */
  readonly lifetimeMs?: number
}

/** Last uses are recorded to the minute only, which keeps writes rare. */
const USE_PRECISION_MS = 60_000

/** How many valid tokens are remembered. Beyond that, the oldest is forgotten. */
const KNOWN_TOKENS_MAX = 10_000

/** The latest time that a Date can represent. */
const LATEST_MS = 8.64e15

/** The verification of a token, shared by all requests in one turn of the event loop. */
interface Verification {
  readonly digest: Buffer
  /** Whether the token was valid when last verified. */
  readonly isKnown: boolean
  grant?: Promise<Grant | undefined>
  /** The grant, once it is known that there is one. */
  verified?: Grant
}

/**
 * Issues and verifies access tokens. They are opaque, shown once, and stored as SHA-256. An unsalted, fast
 * hash is enough for 256 random bits, which cannot be guessed.
 */
export class AccessTokens {
  readonly #store: TokenStore
  readonly #fixedDigest: Uint8Array | undefined
  readonly #now: () => number
  /** By token. Cleared each turn of the event loop, so that a revocation takes effect at once. */
  #verifications = new Map<string, Verification>()
  /** Digests of tokens that were valid when last verified. */
  readonly #known = new Set<string>()
  /** When each token's last use was recorded. Keyed by digest, because a name can be reused for another token. */
  readonly #notedUses = new Map<string, number>()

  /**
   * @param fixedToken a token with all scopes that is valid in addition to those in the store
   * @param now returns the current time, in milliseconds since 1970
   */
  constructor(store: TokenStore, fixedToken?: string, now: () => number = Date.now) {
    this.#store = store
    this.#fixedDigest = fixedToken === undefined ? undefined : hashToken(fixedToken)
    this.#now = now
  }

  /**
   * Resolves to what the token allows, or undefined if it is unknown, expired or revoked.
   *
   * @throws StoreUnavailable
   */
  verify(token: string): Promise<Grant | undefined> {
    const verification = this.#shareVerification(token)
    verification.grant ??= this.#verify(verification)
    return verification.grant
  }

  /** What the token allows if it was found valid in this turn of the event loop. Saves most requests a promise. */
  verified(token: string): Grant | undefined {
    return this.#verifications.get(token)?.verified
  }

  /** Whether the token was valid when this process last verified it. Does not query the store. */
  isKnown(token: string): boolean {
    return this.#shareVerification(token).isKnown
  }

  #shareVerification(token: string): Verification {
    const existing = this.#verifications.get(token)
    if (existing !== undefined) return existing
    if (this.#verifications.size === 0) setImmediate(() => this.#clearVerifications())
    const digest = hashToken(token)
    const verification: Verification = { digest, isKnown: this.#known.has(toKey(digest)) }
    this.#verifications.set(token, verification)
    return verification
  }

  #clearVerifications(): void {
    this.#verifications = new Map()
  }

  async #verify(verification: Verification): Promise<Grant | undefined> {
    const { digest } = verification
    const grant = await this.#findGrant(digest)
    if (grant === undefined) {
      this.#known.delete(toKey(digest))
    } else {
      this.#remember(toKey(digest))
      verification.verified = grant
    }
    return grant
  }

  #remember(key: string): void {
    this.#known.add(key)
    if (this.#known.size <= KNOWN_TOKENS_MAX) return
    const [oldest] = this.#known
    this.#known.delete(oldest as string)
  }

  async #findGrant(digest: Buffer): Promise<Grant | undefined> {
    if (this.#fixedDigest !== undefined && timingSafeEqual(this.#fixedDigest, digest)) {
      return { name: 'PLANT_STORE_TOKEN', scopes }
    }
    const stored = await this.#store.findToken(digest.subarray(0, SELECTOR_BYTES))
    if (stored === undefined || !timingSafeEqual(stored.digest, digest)) return undefined
    const now = this.#now()
    if (stored.expiresAt !== undefined && stored.expiresAt.getTime() <= now) return undefined
    this.#noteUse(stored, now)
    return stored
  }

  #noteUse({ name, digest, lastUsedAt }: StoredToken, now: number): void {
    const key = toKey(Buffer.from(digest))
    const noted = this.#notedUses.get(key) ?? lastUsedAt?.getTime() ?? Number.NEGATIVE_INFINITY
    if (now - noted < USE_PRECISION_MS) return
    this.#notedUses.set(key, now)
    // A failed write must not fail the request. The token's next use tries again.
    this.#store.noteTokenUse(name, new Date(now)).catch(() => this.#notedUses.delete(key))
  }

  /**
   * Issues a token. Resolves to it, or to undefined if the name is taken.
   *
   * @throws StoreUnavailable
   */
  async issue(request: TokenRequest): Promise<string | undefined> {
    const { token, stored } = this.#createToken(request)
    return (await this.#store.addToken(stored)) ? token : undefined
  }

  /** Like `issue`, but resolves to undefined if the store already has a token. */
  async issueFirst(request: TokenRequest): Promise<string | undefined> {
    const { token, stored } = this.#createToken(request)
    return (await this.#store.addFirstToken(stored)) ? token : undefined
  }

  /**
   * Revokes the token with the given name. Resolves to false if there is none.
   *
   * @throws StoreUnavailable
   */
  async revoke(name: string): Promise<boolean> {
    const removed = await this.#store.removeToken(name)
    this.#clearVerifications()
    return removed
  }

  #createToken({ name, scopes, lifetimeMs }: TokenRequest): { token: string; stored: StoredToken } {
    const token = newToken()
    const now = this.#now()
    const stored = { name, scopes, digest: hashToken(token), createdAt: new Date(now) }
    if (lifetimeMs === undefined) return { token, stored }
    const expiresAt = new Date(Math.min(now + lifetimeMs, LATEST_MS))
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

/** A digest as a string, because a Map compares buffers by identity. */
function toKey(digest: Buffer): string {
  return digest.toString('latin1')
}

import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Scope, scopes } from '../src/contract/scopes.ts'
import { SELECTOR_BYTES, type StoredToken, type TokenStore } from './token-store.ts'

/** What a valid token entitles to. */
export interface Grant {
  readonly name: string
  readonly scopes: readonly Scope[]
}

export interface TokenRequest {
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Milliseconds from now; without it the token does not expire. */
  readonly lifetime?: number
}

const MINUTE = 60_000

/** Valid tokens remembered at most; when there are more, the oldest is forgotten. */
const KNOWN_MAX = 10_000

/** The last moment that a Date can name. */
const END_OF_TIME = 8.64e15

/** The result of verifying a token. */
interface Look {
  readonly digest: Buffer
  /** Whether the token was valid when last verified. */
  readonly isKnown: boolean
  grant?: Promise<Grant | undefined>
}

/**
 * Issues and verifies access tokens: opaque, shown once, kept only as SHA-256. A plain hash is
 * enough for them, as they are 256 random bits that nobody can guess.
 */
export class AccessTokens {
  readonly #store: TokenStore
  readonly #fixedDigest: Uint8Array | undefined
  readonly #now: () => number
  /** Requests that arrive in one turn of the event loop share one look at a token. */
  #looks = new Map<string, Look>()
  /** Digests of tokens that were valid when last verified. */
  readonly #known = new Set<string>()
  /** When the last use was noted, by digest: a name may come to mean another token. */
  readonly #notedUses = new Map<string, number>()

  /**
   * @param fixedToken a token that is valid for all scopes beside those in the store
   * @param now the time in milliseconds since 1970
   */
  constructor(store: TokenStore, fixedToken?: string, now: () => number = Date.now) {
    this.#store = store
    this.#fixedDigest = fixedToken === undefined ? undefined : digestOf(fixedToken)
    this.#now = now
  }

  /** Resolves to what the token entitles to; to nothing if it is unknown, expired or revoked. */
  verify(token: string): Promise<Grant | undefined> {
    const look = this.#lookAt(token)
    look.grant ??= this.#verify(look.digest)
    return look.grant
  }

  /** Whether the token was valid when this process last verified it. */
  isKnown(token: string): boolean {
    return this.#lookAt(token).isKnown
  }

  #lookAt(token: string): Look {
    const before = this.#looks.get(token)
    if (before !== undefined) return before
    if (this.#looks.size === 0) setImmediate(() => this.#forget())
    const digest = digestOf(token)
    const look = { digest, isKnown: this.#known.has(keyOf(digest)) }
    this.#looks.set(token, look)
    return look
  }

  async #verify(digest: Buffer): Promise<Grant | undefined> {
    const grant = await this.#grantOf(digest)
    if (grant === undefined) this.#known.delete(keyOf(digest))
    else this.#remember(keyOf(digest))
    return grant
  }

  #remember(key: string): void {
    this.#known.add(key)
    if (this.#known.size <= KNOWN_MAX) return
    const [first] = this.#known
    this.#known.delete(first as string)
  }

  async #grantOf(digest: Buffer): Promise<Grant | undefined> {
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

  /** Makes a token and resolves to it, or to nothing if the name is taken. */
  async issue(request: TokenRequest): Promise<string | undefined> {
    const { token, stored } = this.#make(request)
    return (await this.#store.addToken(stored)) ? token : undefined
  }

  /** As `issue`, but only if the store has no token at all. */
  async issueFirst(request: TokenRequest): Promise<string | undefined> {
    const { token, stored } = this.#make(request)
    return (await this.#store.addFirstToken(stored)) ? token : undefined
  }

  /** Makes the token of that name invalid. Resolves to false if there is none. */
  async revoke(name: string): Promise<boolean> {
    const removed = await this.#store.removeToken(name)
    this.#forget()
    return removed
  }

  #forget(): void {
    this.#looks = new Map()
  }

  #make({ name, scopes, lifetime }: TokenRequest): { token: string; stored: StoredToken } {
    const token = newToken()
    const now = this.#now()
    const stored = { name, scopes, digest: digestOf(token), createdAt: new Date(now) }
    if (lifetime === undefined) return { token, stored }
    const expiresAt = new Date(Math.min(now + lifetime, END_OF_TIME))
    return { token, stored: { ...stored, expiresAt } }
  }

  /** Once a minute is precise enough to see that a token is in use, and cheap. */
  #noteUse({ name, digest, lastUsedAt }: StoredToken, now: number): void {
    const key = keyOf(Buffer.from(digest))
    const noted = this.#notedUses.get(key) ?? lastUsedAt?.getTime() ?? Number.NEGATIVE_INFINITY
    if (now - noted < MINUTE) return
    this.#notedUses.set(key, now)
    // A note that cannot be made now is made with a later use; the request must not fail for it.
    this.#store.noteTokenUse(name, new Date(now)).catch(() => this.#notedUses.delete(key))
  }
}

/** A token that nobody else has. It is valid where it is known. */
export function newToken(): string {
  return `plant_${randomBytes(32).toString('base64url')}`
}

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

/** A digest as the key of a Map or Set. */
function keyOf(digest: Buffer): string {
  return digest.toString('latin1')
}

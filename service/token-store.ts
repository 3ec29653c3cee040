import type { Scope } from '../contract/scopes.ts'

/** A token as stored. It has only a digest of the secret, which does not reveal it. */
export interface StoredToken {
  /** Unique. Identifies the token when it is listed or revoked. */
  readonly name: string
  /** SHA-256 of the token. */
  readonly digest: Uint8Array
  readonly scopes: readonly Scope[]
  readonly createdAt: Date
  /** The first moment at which the token is invalid. Undefined if it never expires. */
  readonly expiresAt?: Date
  /** Accurate to a minute. Undefined if the token was never used. */
  readonly lastUsedAt?: Date
}

/**
 * Stores tokens, in the same database as the plants. A change is visible to every process from its next
 * call. Every method throws StoreUnavailable if the store is temporarily unavailable.
 */
export interface TokenStore {
  /**
   * Resolves to the token with the selector, or undefined if there is none.
   *
   * @param selector the first `SELECTOR_BYTES` bytes of the token's digest. The caller must compare the
   *   whole digest.
   */
  findToken(selector: Uint8Array): Promise<StoredToken | undefined>

  /** Resolves to all tokens, ordered by name in code point order. */
  listTokens(): Promise<StoredToken[]>

  /** Adds a token. Resolves to false, and changes nothing, if its name is taken. */
  addToken(token: StoredToken): Promise<boolean>

  /** Like `addToken`, but only if the store has no tokens. Of concurrent calls, exactly one adds its token. */
  addFirstToken(token: StoredToken): Promise<boolean>

  /** Removes a token by name. Resolves to false if there is none. */
  removeToken(name: string): Promise<boolean>

  /** Records when a token was last used. Does nothing if the token was removed. */
  noteTokenUse(name: string, at: Date): Promise<void>
}

/** How many bytes of a digest select a token: enough to be unique in practice, too few to prove possession. */
export const SELECTOR_BYTES = 8

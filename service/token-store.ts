/** What a token may do. */
export const scopes = ['read', 'write'] as const
export type Scope = (typeof scopes)[number]

/** Scopes as they appear in a sentence: `read scope`, `read and write scopes`. */
export function nameScopes(scopes: readonly Scope[]): string {
  return `${scopes.join(' and ')} ${scopes.length > 1 ? 'scopes' : 'scope'}`
}

/** A token as it is kept: whoever reads the store learns no secret. */
export interface StoredToken {
  /** Unique; what the token is called where it is listed and revoked. */
  readonly name: string
  /** SHA-256 of the token. */
  readonly digest: Uint8Array
  readonly scopes: readonly Scope[]
  readonly createdAt: Date
  /** From this moment on the token is refused. Without it the token does not expire. */
  readonly expiresAt?: Date
  /** Right to the minute. Without it the token was never used. */
  readonly lastUsedAt?: Date
}

/**
 * Where tokens are kept, beside the plants. What one process changes all others see with their next
 * call. Every method throws StoreUnavailable when the store could not do it now.
 */
export interface TokenStore {
  /**
   * Finds a token.
   *
   * @param selector the first `SELECTOR_BYTES` bytes of its digest: enough to find it, too little
   *   to prove it.
   */
  findToken(selector: Uint8Array): Promise<StoredToken | undefined>

  /** All tokens, by name in the order of code points. */
  listTokens(): Promise<StoredToken[]>

  /** Adds a token. Resolves to false, and changes nothing, if its name is taken. */
  addToken(token: StoredToken): Promise<boolean>

  /** As `addToken`, but only if there is no token at all. Of any number of racing calls one adds. */
  addFirstToken(token: StoredToken): Promise<boolean>

  /** Removes a token by its name. Resolves to false if there is none. */
  removeToken(name: string): Promise<boolean>

  /** Notes when a token was used last; does nothing if it is gone. */
  noteTokenUse(name: string, at: Date): Promise<void>
}

export const SELECTOR_BYTES = 8

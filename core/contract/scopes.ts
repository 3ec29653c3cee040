/** The permissions that a token can have. An operation names the scopes that it needs in its `x-scope`. */
export const scopes = ['read', 'write'] as const
export type Scope = (typeof scopes)[number]

/** The name and the permissions of a valid token. */
export interface Grant {
  readonly name: string
  /** Whom the OpenID Connect issuer has issued the token to; undefined for a token of ours. */
  readonly subject?: string
  readonly scopes: readonly Scope[]
  /** Undefined if the token never expires. */
  readonly expiresAt?: Date
}

/** Scopes as part of a sentence: `read scope`, `read and write scopes`. */
export function nameScopes(scopes: readonly Scope[]): string {
  return `${scopes.join(' and ')} ${scopes.length > 1 ? 'scopes' : 'scope'}`
}

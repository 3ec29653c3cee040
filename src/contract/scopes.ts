/** What a token can allow. An operation names the scopes that it needs in its `x-scope`. */
export const scopes = ['read', 'write'] as const
export type Scope = (typeof scopes)[number]

/** Scopes as part of a sentence: `scope read`, `scopes read and write`. */
export function nameScopes(scopes: readonly Scope[]): string {
  return `${scopes.length > 1 ? 'scopes' : 'scope'} ${scopes.join(' and ')}`
}

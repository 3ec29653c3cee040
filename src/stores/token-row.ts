import { scopes } from '../../contract/scopes.ts'
import type { StoredToken } from '../../service/token-store.ts'

/** A row of the table `tokens`. Times are in milliseconds since 1970. */
export interface TokenRow {
  readonly digest: Uint8Array
  readonly name: string
  readonly scopes: string
  readonly created_at: bigint
  readonly expires_at: bigint | null
  readonly last_used_at: bigint | null
}

export function toToken(row: TokenRow): StoredToken {
  return {
    name: row.name,
    digest: row.digest,
    scopes: scopes.filter((scope) => row.scopes.split(',').includes(scope)),
    createdAt: new Date(Number(row.created_at)),
    ...(row.expires_at !== null && { expiresAt: new Date(Number(row.expires_at)) }),
    ...(row.last_used_at !== null && { lastUsedAt: new Date(Number(row.last_used_at)) }),
  }
}

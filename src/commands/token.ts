import { nameScopes, type Scope } from '../../contract/scopes.ts'
import { AccessTokens } from '../../service/access-tokens.ts'
import type { StoredToken } from '../../service/token-store.ts'
import { ConfigError } from '../config/config.ts'
import { describeDatabase, withStore } from './store-access.ts'
import { formatMinute, formatTable } from './table.ts'

export interface TokenOptions {
  readonly database: string
  readonly name: string
  readonly scope: readonly Scope[]
  /** Lifetime in milliseconds; unlimited by default. */
  readonly expires?: number
  /** Create the database if it does not exist. */
  readonly create?: true
}

/**
 * Creates a token and prints it. Nothing else goes to standard output, so that scripts can capture it.
 *
 * @throws ConfigError if the name is taken
 */
export async function createToken(options: TokenOptions): Promise<void> {
  const { database, name, scope, expires, create = false } = options
  await withStore({ database, create }, async (store) => {
    const lifetime = expires === undefined ? {} : { lifetimeMs: expires }
    const token = await new AccessTokens(store).issue({ name, scopes: scope, ...lifetime })
    if (token === undefined) throw new ConfigError(`token ${name} already exists`)
    process.stdout.write(`${token}\n`)
    process.stderr.write(
      `Created the token ${name} in ${describeDatabase(database)}. It has the ${nameScopes(scope)}. Keep it safe: it is not shown again.\n`,
    )
  })
}

/** Prints a table of the tokens without their secrets. */
export async function listTokens(database: string): Promise<void> {
  await withStore({ database }, async (store) => {
    const rows = (await store.listTokens()).map(tableRow)
    process.stdout.write(
      formatTable([['NAME', 'SCOPES', 'CREATED', 'EXPIRES', 'LAST USED'], ...rows]),
    )
  })
}

/**
 * Revokes a token. A running service rejects it immediately.
 *
 * @throws ConfigError if no token has the name
 */
export async function revokeToken(database: string, name: string): Promise<void> {
  await withStore({ database }, async (store) => {
    if (!(await new AccessTokens(store).revoke(name))) {
      throw new ConfigError(`token ${name} does not exist`)
    }
    process.stdout.write(`revoked ${name} in ${describeDatabase(database)}\n`)
  })
}

function tableRow({ name, scopes, createdAt, expiresAt, lastUsedAt }: StoredToken): string[] {
  const expired = expiresAt !== undefined && expiresAt.getTime() <= Date.now() ? ' (expired)' : ''
  return [
    name,
    scopes.join(),
    formatMinute(createdAt),
    expiresAt ? formatMinute(expiresAt) + expired : 'never',
    lastUsedAt ? formatMinute(lastUsedAt) : 'never',
  ]
}

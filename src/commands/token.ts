import { AccessTokens } from '../../service/access-tokens.ts'
import { nameScopes, type Scope, type StoredToken } from '../../service/token-store.ts'
import { ConfigError, defaultConfig } from '../config/config.ts'
import { openStore } from '../stores/engines.ts'
import type { Store } from '../stores/store.ts'

export interface TokenOptions {
  readonly database: string
  readonly name: string
  readonly scope: readonly Scope[]
  /** Milliseconds from now. */
  readonly expires?: number
}

/** Makes a token and prints it, alone on standard output. */
export async function createToken({ database, name, scope, expires }: TokenOptions): Promise<void> {
  await withStore(database, false, async (store) => {
    const lifetime = expires === undefined ? {} : { lifetime: expires }
    const token = await new AccessTokens(store).issue({ name, scopes: scope, ...lifetime })
    if (token === undefined) throw new ConfigError(`there is a token ${name} already`)
    process.stdout.write(`${token}\n`)
    process.stderr.write(`It has the ${nameScopes(scope)}. Keep it safe: it is not shown again.\n`)
  })
}

/** Prints a line for each token, never a secret. */
export async function listTokens(database: string): Promise<void> {
  await withStore(database, true, async (store) => {
    const rows = (await store.listTokens()).map(rowOf)
    process.stdout.write(tableOf([['NAME', 'SCOPES', 'CREATED', 'EXPIRES', 'LAST USED'], ...rows]))
  })
}

/** Removes a token; a running service refuses it from then on. */
export async function revokeToken(database: string, name: string): Promise<void> {
  await withStore(database, true, async (store) => {
    if (!(await new AccessTokens(store).revoke(name))) {
      throw new ConfigError(`there is no token ${name}`)
    }
    process.stdout.write(`revoked ${name}\n`)
  })
}

async function withStore(
  database: string,
  mustExist: boolean,
  use: (store: Store) => Promise<void>,
): Promise<void> {
  const { lockTimeout } = defaultConfig()
  const store = await openStore({ database, mustExist, lockTimeout, sameThread: true })
  try {
    await use(store)
  } finally {
    await store.close()
  }
}

function rowOf({ name, scopes, createdAt, expiresAt, lastUsedAt }: StoredToken): string[] {
  const expired = expiresAt !== undefined && expiresAt.getTime() <= Date.now() ? ' (expired)' : ''
  return [
    name,
    scopes.join(),
    minuteOf(createdAt),
    expiresAt ? minuteOf(expiresAt) + expired : 'never',
    lastUsedAt ? minuteOf(lastUsedAt) : 'never',
  ]
}

function minuteOf(date: Date): string {
  return `${date.toISOString().slice(0, 16)}Z`
}

function tableOf(rows: string[][]): string {
  const width = (column: number) => Math.max(...rows.map((row) => String(row[column]).length))
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(width(column))).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}

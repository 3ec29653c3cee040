import type { PlantStore } from '../../service/plant-store.ts'
import type { TokenStore } from '../../service/token-store.ts'
import type { CheckResult } from './check-result.ts'
import { isServer } from './location.ts'

/** Plants and tokens in one place. */
export interface Store extends PlantStore, TokenStore {
  /** Does what was asked for before, then lets go of the place; does nothing if it was called before. */
  close(): Promise<void>
}

export interface StoreOptions {
  /** What the setting of the database says. */
  readonly database: string
  /** How long to wait while others hold what we need, or for a server, in milliseconds. */
  readonly lockTimeout: number
  /** Refuse if there is no such database, rather than make it; on a server, its tables. */
  readonly mustExist?: boolean
  /** Work on the calling thread, which waits meanwhile: for a process that has nothing else to do. */
  readonly sameThread?: boolean
}

/**
 * Opens the store that the setting names. What the other engine needs is not loaded.
 *
 * @throws StoreError saying in a line why it cannot be used
 */
export async function openStore({ database, ...options }: StoreOptions): Promise<Store> {
  if (isServer(database)) {
    const { PostgresStore } = await import('./postgres/postgres-store.ts')
    return PostgresStore.open({ url: database, timeout: options.lockTimeout, ...options })
  }
  const { SqliteStore } = await import('./sqlite/sqlite-store.ts')
  return new SqliteStore({ file: database, ...options })
}

/**
 * Verifies what the setting names, without changing it; each finding comes as soon as it is made.
 *
 * @throws StoreError if it cannot be checked
 */
export async function* checkStore({
  database,
  lockTimeout,
}: StoreOptions): AsyncGenerator<CheckResult> {
  if (isServer(database)) {
    const { checkDatabase } = await import('./postgres/check.ts')
    yield* checkDatabase({ url: database, timeout: lockTimeout })
  } else {
    const { checkDatabase } = await import('./sqlite/check.ts')
    yield* checkDatabase({ file: database, lockTimeout })
  }
}

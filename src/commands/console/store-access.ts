import { defaultConfig } from '../../config/config.ts'
import { locateDatabase, openStore } from '../../stores/engines.ts'
import type { Store } from '../../stores/shared/store.ts'
import { MissingDatabase } from '../../stores/shared/store-error.ts'

/** The database of a short-lived command. */
export interface Target {
  readonly database: string
  /** Whether to create a missing database; undefined if the command has no such option. */
  readonly create?: boolean
}

/**
 * Opens a store for a short-lived command.
 *
 * @throws MissingDatabase if there is no database and it is not to be created, and other StoreErrors
 */
export async function openTarget({ database, create }: Target): Promise<Store> {
  const { lockTimeout } = defaultConfig()
  try {
    return await openStore({ database, mustExist: create !== true, lockTimeout, sameThread: true })
  } catch (error) {
    if (create === undefined || !(error instanceof MissingDatabase)) throw error
    throw new MissingDatabase(`${error.message}; use --create to create it`, { cause: error })
  }
}

/** Opens a store for a short-lived command, and closes it at the end. */
export async function withStore(
  target: Target,
  use: (store: Store) => Promise<void>,
): Promise<void> {
  const store = await openTarget(target)
  try {
    await use(store)
  } finally {
    await store.close()
  }
}

/** Names a database for the operator: an absolute path, or a URL without its secrets. */
export function describeDatabase(database: string): string {
  const location = locateDatabase(database)
  if ('memory' in location) return 'in memory'
  return 'file' in location ? location.file : location.server
}

import { defaultConfig } from '../../config/config.ts'
import { openReader, openStore } from '../../stores/engines.ts'
import { pageOf } from '../../stores/shared/rows.ts'
import type { PlantReader, Store } from '../../stores/shared/store.ts'
import { MissingDatabase } from '../../stores/shared/store-error.ts'

/** The database of a short-lived command. */
export interface Target {
  readonly database: string
  /** Whether to create a missing database; undefined if the command has no such option. */
  readonly create?: boolean
  /** See StoreOptions. */
  readonly readsIncomplete?: boolean
}

/**
 * Opens a store for a short-lived command.
 *
 * @throws MissingDatabase if there is no database and it is not to be created, and other StoreErrors
 */
export async function openTarget({ create, ...target }: Target): Promise<Store> {
  const { lockTimeout } = defaultConfig()
  try {
    return await openStore({ ...target, mustExist: create !== true, lockTimeout, sameThread: true })
  } catch (error) {
    throw create === undefined ? error : withCreateHint(error)
  }
}

const NO_PLANTS: PlantReader = {
  getAll: async () => pageOf([]),
  list: async () => pageOf([]),
  exportPlants: async function* () {},
  findRecord: async () => undefined,
  close: async () => {},
}

/**
 * Opens a database to read its plants, without changing anything. A missing database that would be created is empty.
 *
 * @throws MissingDatabase if there is no database and it would not be created, and other StoreErrors
 */
export async function openTargetReader({ database, create }: Target): Promise<PlantReader> {
  const { lockTimeout } = defaultConfig()
  try {
    return await openReader({ database, lockTimeout })
  } catch (error) {
    if (create && error instanceof MissingDatabase) return NO_PLANTS
    throw withCreateHint(error)
  }
}

function withCreateHint(error: unknown): unknown {
  if (!(error instanceof MissingDatabase)) return error
  return new MissingDatabase(`${error.message}; use --create to create it`, { cause: error })
}

/** Opens a store for a short-lived command that manages the database, and closes it at the end. */
export async function withStore(
  target: Target,
  use: (store: Store) => Promise<void>,
): Promise<void> {
  const store = await openTarget({ readsIncomplete: true, ...target })
  try {
    await use(store)
  } finally {
    await store.close()
  }
}

import { defaultConfig } from '../config/config.ts'
import { openStore } from '../stores/engines.ts'
import type { Store } from '../stores/store.ts'

/**
 * Opens a store for a short-lived command, and closes it at the end.
 *
 * @param mustExist fail instead of creating a missing database
 */
export async function withStore(
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

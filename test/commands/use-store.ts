import { openStore } from '../../src/stores/engines.ts'
import type { Store } from '../../src/stores/shared/store.ts'

/** Opens the store of a database, which is created if it does not exist, for some work. */
export async function useStore<Result>(
  database: string,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openStore({ database, lockTimeout: 60_000, sameThread: true })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

import { StoreError } from './store-error.ts'

/** The value of `--database` for a database in memory. */
export const IN_MEMORY = ':memory:'

/**
 * Refuses a database in memory, for commands that share a database with other processes.
 *
 * @throws StoreError if the database is in memory
 */
export function refuseMemory(database: string): void {
  if (database !== IN_MEMORY) return
  throw new StoreError('a database in memory is private to its process: use a file')
}

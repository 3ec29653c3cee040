import { defaultConfig } from '../config/config.ts'
import { findEngine } from '../stores/engines.ts'
import { describeDatabase } from './store-access.ts'

/**
 * Changes how many standbys must have a change before it is acknowledged, and prints the number.
 *
 * @throws StoreError if the database has no standbys or cannot be used
 */
export async function requireStandbys(number: number, database: string): Promise<void> {
  const { lockTimeout } = defaultConfig()
  await findEngine(database).requireStandbys({ database, lockTimeout }, number)
  process.stdout.write(`required standbys in ${describeDatabase(database)}: ${number}\n`)
}

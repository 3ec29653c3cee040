import { join } from 'node:path'
import { startPostgres } from '../../../tools/postgres/postgres-server.ts'
import type { Place } from './target.ts'

/** Resolves to a function that creates an empty database, by turns on PostgreSQL and on SQLite. */
export async function alternateEngines({
  owner,
  folder,
}: Pick<Place, 'owner' | 'folder'>): Promise<() => Promise<string>> {
  const { emptyDatabase } = await startPostgres(owner)
  let number = 0
  return async () => {
    number += 1
    return number % 2 === 1 ? emptyDatabase() : join(folder, `plants-${number}.db`)
  }
}

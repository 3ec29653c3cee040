import { dirname, join } from 'node:path'

/**
 * Where the service writes the first token of a database file: `shared`, or `own` if another database has taken that.
 */
export function locateTokenFiles(database: string): {
  readonly shared: string
  readonly own: string
} {
  return { shared: join(dirname(database), 'access-token'), own: `${database}.access-token` }
}

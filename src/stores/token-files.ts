import { dirname, join } from 'node:path'

/** Where the service writes the first token of a database file: `own` if another database uses `shared`. */
export function tokenFilesOf(database: string): { readonly shared: string; readonly own: string } {
  return { shared: join(dirname(database), 'access-token'), own: `${database}.access-token` }
}

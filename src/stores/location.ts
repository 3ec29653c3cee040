import { resolve } from 'node:path'
import { parseConnectionString } from './postgres/connection-string.ts'
import { IN_MEMORY } from './sqlite/database.ts'

/** What the setting of the database means: a file, the memory of this process, or a server. */
export type Location =
  | { readonly file: string }
  | { readonly memory: true }
  /** Its URL, without what may be secret. */
  | { readonly server: string }

/** @throws StoreError if it is a URL that means nothing */
export function locationOf(database: string): Location {
  if (isServer(database)) return { server: parseConnectionString(database).shown }
  return database === IN_MEMORY ? { memory: true } : { file: resolve(database) }
}

export function isServer(database: string): boolean {
  return /^postgres(ql)?:/.test(database)
}

/** @throws StoreError if it is an invalid URL */
export function hasPassword(database: string): boolean {
  return isServer(database) && parseConnectionString(database).hasPassword
}

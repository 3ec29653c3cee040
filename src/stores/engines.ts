import { known } from '../../core/known.ts'
import { escapeControlCharacters } from '../system/control-characters.ts'
import { postgres } from './postgres/postgres-engine.ts'
import type { DatabaseOptions, Engine, Location, StoreOptions } from './shared/engine.ts'
import type { PlantReader, Store, ThreadStore } from './shared/store.ts'
import { StoreError } from './shared/store-error.ts'
import { sqlite } from './sqlite/sqlite-engine.ts'

/** The first match is used. SQLite is last because any string is a path. */
const engines: readonly Engine[] = [postgres, sqlite]

/** A scheme has at least two letters here, because `C://` can be a path. */
const URL_SCHEME = /^([a-z][a-z\d+.-]+):\/\//i

/**
 * Finds the engine for a value of `--database`.
 *
 * @throws StoreError if it is a URL that no engine supports; without the URL itself, which may contain a password
 */
export function findEngine(database: string): Engine {
  const [, scheme] = URL_SCHEME.exec(database) ?? []
  if (scheme !== undefined && !postgres.matches(database)) {
    throw new StoreError(
      `unsupported database URL ${scheme}://…: expected postgres://… or postgresql://…; for SQLite, the path of a file`,
    )
  }
  return known(engines.find((engine) => engine.matches(database)))
}

/** See Engine.open. */
export function openStore(options: StoreOptions): Promise<Store> {
  return findEngine(options.database).open(options)
}

/** See Engine.openReader. */
export function openReader(options: DatabaseOptions): Promise<PlantReader> {
  return findEngine(options.database).openReader(options)
}

/** See Engine.join. */
export function joinStore(options: StoreOptions, link: unknown): Promise<ThreadStore> {
  const { join } = findEngine(options.database)
  return known(join)(options, link)
}

/** See Engine.locate. */
export function locateDatabase(database: string): Location {
  return findEngine(database).locate(database)
}

/** Names a database for the operator: an absolute path, or a URL without its secrets. Has no control characters. */
export function describeDatabase(database: string): string {
  const location = locateDatabase(database)
  if ('memory' in location) return 'in memory'
  return escapeControlCharacters('file' in location ? location.file : location.server)
}

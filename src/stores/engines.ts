import type { Engine, Location, StoreOptions } from './engine.ts'
import { postgres } from './postgres/engine.ts'
import { sqlite } from './sqlite/engine.ts'
import type { Store, ThreadStore } from './store.ts'

/** The first match is used. SQLite is last because any string is a path. */
const engines: readonly Engine[] = [postgres, sqlite]

/** Finds the engine for a value of `--database`. */
export function findEngine(database: string): Engine {
  return engines.find((engine) => engine.matches(database)) as Engine
}

/** See Engine.open. */
export function openStore(options: StoreOptions): Promise<Store> {
  return findEngine(options.database).open(options)
}

/** See Engine.join. */
export function joinStore(options: StoreOptions, link: unknown): Promise<ThreadStore> {
  return findEngine(options.database).join(options, link)
}

/** See Engine.locate. */
export function locateDatabase(database: string): Location {
  return findEngine(database).locate(database)
}

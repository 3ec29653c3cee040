import type { Database } from 'better-sqlite3'
import {
  type BatchResult,
  type CreateResult,
  contentVersion,
  type ImportResult,
  type NewPlant,
  type NoMatch,
  type OnConflict,
  type PlantPatch,
  type StoredPlant,
} from '../../../../service/plant-store.ts'
import { SELECTOR_BYTES, type StoredToken } from '../../../../service/token-store.ts'
import type { Size } from '../../group-commit.ts'
import { measureText, measureTextOfAll, type PlantRow, toPlant } from '../../rows.ts'
import { type ChangeLimits, preparePrune } from '../feed/change-pruner.ts'
import type { OpenFile } from '../file/file-identity.ts'
import { mapError } from '../sqlite-errors.ts'
import type { SqliteMetrics } from '../sqlite-metrics.ts'
import {
  prepareRefusal,
  prepareRestrictionChanges,
  type RestrictionChanges,
} from './restriction-changes.ts'
import { prepareWebhookChanges, type WebhookChanges } from './webhook-changes.ts'

/** Every change that a store makes. Specified by PlantStore, RestrictionStore, TokenStore and WebhookStore. */
interface Operations extends WebhookChanges, RestrictionChanges {
  create(plant: NewPlant): CreateResult
  createAll(plants: readonly NewPlant[]): BatchResult
  update(id: bigint, patch: PlantPatch, expected?: readonly string[]): StoredPlant | NoMatch
  remove(id: bigint, expected?: readonly string[]): 'removed' | NoMatch
  importPlants(plants: readonly NewPlant[], onConflict: OnConflict): ImportResult[]
  /** Deletes some of the changes in the log that exceed its limits. */
  pruneChanges(limits: ChangeLimits): void
  addToken(token: StoredToken): boolean
  addFirstToken(token: StoredToken): boolean
  removeToken(name: string): boolean
  noteTokenUse(name: string, at: Date): void
}

type WriteCalls = {
  [Name in keyof Operations]: readonly [name: Name, ...parameters: Parameters<Operations[Name]>]
}

/** A call to one of the operations, as a value that can be sent to another thread. */
export type WriteCall = WriteCalls[keyof WriteCalls]

/** Makes a change, and resolves when it is on disk. */
export type SubmitWrite = <Name extends keyof Operations>(
  name: Name,
  ...parameters: Parameters<Operations[Name]>
) => Promise<ReturnType<Operations[Name]>>

export type WriteResult = ReturnType<Operations[keyof Operations]>

/** The operations, in a form that lets TypeScript relate a name to its parameters. */
type Prepared = {
  [Name in keyof Operations]: (
    ...parameters: Parameters<Operations[Name]>
  ) => ReturnType<Operations[Name]>
}

function isStep([name]: WriteCall): boolean {
  return name === 'restrict'
}

/** Makes changes. The changes of one call share a transaction, and so one wait for the disk. */
export class Writer {
  readonly #db: Database
  readonly #file: OpenFile | undefined
  readonly #commit: (changes: readonly WriteCall[]) => WriteResult[]

  /**
   * @param file of the connection; undefined in memory
   * @param metrics measures the commits
   */
  constructor(db: Database, file?: OpenFile, metrics?: SqliteMetrics) {
    this.#db = db
    this.#file = file
    const prepared: Prepared = prepareOperations(db)
    const make = <Name extends keyof WriteCalls>([name, ...parameters]: WriteCalls[Name]) =>
      prepared[name](...parameters)
    const mapRefusal = prepareRefusal(db)
    const makeAll = (changes: readonly WriteCall[]) => {
      try {
        // No change can follow a step that begins a restriction, so steps are last.
        const results = changes.map((change) => (isStep(change) ? undefined : make(change)))
        return changes.map((change, index) => (isStep(change) ? make(change) : results[index]))
      } catch (error) {
        throw mapRefusal(error)
      }
    }
    this.#commit =
      metrics === undefined
        ? db.transaction(makeAll).immediate
        : prepareMeasuredCommit(db, makeAll, metrics)
  }

  /**
   * Makes all changes, in order, or none. Returns when they are on disk.
   *
   * @throws StoreUnavailable if the changes cannot be made now
   */
  commit(changes: readonly WriteCall[]): WriteResult[] {
    this.#file?.assertInPlace()
    try {
      return this.#commit(changes)
    } catch (error) {
      throw mapError(error)
    }
  }

  close(): void {
    this.#db.close()
  }
}

function prepareMeasuredCommit(
  db: Database,
  makeAll: (changes: readonly WriteCall[]) => WriteResult[],
  { duration, changes: counts, sync }: SqliteMetrics,
): (changes: readonly WriteCall[]) => WriteResult[] {
  let made = 0
  const commit = db.transaction((changes: readonly WriteCall[]) => {
    const results = makeAll(changes)
    made = performance.now()
    return results
  }).immediate
  return (changes) => {
    const begun = performance.now()
    const results = commit(changes)
    const committed = performance.now()
    duration.observe((committed - begun) / 1000)
    sync.observe((committed - made) / 1000)
    counts.observe(changes.reduce((sum, change) => sum + countChanges(change), 0))
    return results
  }
}

function prepareOperations(db: Database): Operations {
  const insertPlant = db.prepare(
    'INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const findPlant = db.prepare<bigint, PlantRow>('SELECT * FROM plants WHERE id = ?')
  const updatePlant = db.prepare('UPDATE plants SET name = ?, tag = ? WHERE id = ?')
  const deletePlant = db.prepare('DELETE FROM plants WHERE id = ?')
  const lastPosition = db.prepare<[], bigint | null>('SELECT max(position) FROM changes').pluck()
  const unlogFrom = db.prepare('DELETE FROM changes WHERE position > ?')
  const insertToken = db.prepare(
    `INSERT INTO tokens (selector, digest, name, scopes, created_at, expires_at, last_used_at)
     VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  )
  const anyToken = db.prepare('SELECT 1 FROM tokens LIMIT 1')
  const deleteToken = db.prepare('DELETE FROM tokens WHERE name = ?')
  const updateToken = db.prepare('UPDATE tokens SET last_used_at = ? WHERE name = ?')

  const findExpected = (id: bigint, expected?: readonly string[]): PlantRow | NoMatch => {
    const stored = findPlant.get(id)
    if (stored === undefined) return 'not-found'
    return expected?.includes(contentVersion(toPlant(stored))) === false ? 'changed' : stored
  }
  const importOne = (plant: NewPlant, onConflict: OnConflict): ImportResult => {
    const result = operations.create(plant)
    if (result !== 'conflict' || onConflict === 'stop') return result
    if (onConflict === 'keep') return 'kept'
    updatePlant.run(plant.name, plant.tag ?? null, plant.id)
    return 'replaced'
  }
  /** Sorted, because neighbors share a page of the file. The sort is stable, so plants with one id stay in order. */
  const importSorted = (plants: readonly NewPlant[], onConflict: OnConflict): ImportResult[] => {
    const results: ImportResult[] = []
    const byId = [...plants.entries()].sort(([, a], [, b]) =>
      a.id < b.id ? -1 : Number(a.id > b.id),
    )
    for (const [index, plant] of byId) results[index] = importOne(plant, onConflict)
    return results
  }
  /**
   * Imports plants with `stop`. If one of them conflicts, none is stored or logged. The transaction can contain other
   * changes, so it is not rolled back.
   */
  const importUnlessConflict = (plants: readonly NewPlant[]): ImportResult[] => {
    const start = lastPosition.get()
    const results = importSorted(plants, 'stop')
    if (!results.includes('conflict')) return results
    for (const [index, { id }] of plants.entries()) {
      if (results[index] === 'created') deletePlant.run(id)
    }
    unlogFrom.run(start)
    return results
  }

  const operations: Operations = {
    ...prepareWebhookChanges(db),
    ...prepareRestrictionChanges(db),
    create({ id, name, tag = null }) {
      if (insertPlant.run(id, name, tag).changes === 1) return 'created'
      const stored = findPlant.get(id)
      return stored?.name === name && stored.tag === tag ? 'replayed' : 'conflict'
    },
    createAll(plants) {
      const results = importUnlessConflict(plants)
      const conflict = plants[results.indexOf('conflict')]
      if (conflict !== undefined) return { conflict: conflict.id }
      const created = results.filter((result) => result === 'created').length
      return { created, replayed: plants.length - created }
    },
    update(id, patch, expected) {
      const stored = findExpected(id, expected)
      if (typeof stored === 'string') return stored
      const { name = stored.name, tag = stored.tag } = patch
      updatePlant.run(name, tag, id)
      return toPlant({ id, name, tag })
    },
    remove(id, expected) {
      const stored = findExpected(id, expected)
      if (typeof stored === 'string') return stored
      deletePlant.run(id)
      return 'removed'
    },
    importPlants(plants, onConflict) {
      if (onConflict !== 'stop') return importSorted(plants, onConflict)
      const results = importUnlessConflict(plants)
      const stop = results.indexOf('conflict')
      if (stop === -1) return results
      importSorted(plants.slice(0, stop), 'stop')
      return results.slice(0, stop + 1)
    },
    pruneChanges: preparePrune(db),
    addToken({ digest, name, scopes, createdAt, expiresAt, lastUsedAt }) {
      const selector = digest.subarray(0, SELECTOR_BYTES)
      const times = [createdAt, expiresAt, lastUsedAt].map((time) => time?.getTime() ?? null)
      return insertToken.run(selector, digest, name, scopes.join(), ...times).changes === 1
    },
    addFirstToken(token) {
      return anyToken.get() === undefined && operations.addToken(token)
    },
    removeToken(name) {
      return deleteToken.run(name).changes === 1
    },
    noteTokenUse(name, at) {
      updateToken.run(at.getTime(), name)
    },
  }
  return operations
}

/** The memory of a string object, in UTF-16 units. An If-Match header can hold thousands of short strings. */
const STRING_OVERHEAD = 16

/** The size that a change counts toward the limits on waiting changes. */
export function measureChange(change: WriteCall): Size {
  return { changes: countChanges(change), text: measureChangeText(change) }
}

/** A batch counts as its number of plants. */
function countChanges(change: WriteCall): number {
  return change[0] === 'createAll' ? change[1].length : 1
}

/** The text that a change keeps in memory while it waits, in UTF-16 units. */
function measureChangeText(change: WriteCall): number {
  switch (change[0]) {
    case 'create':
      return measureText(change[1])
    case 'update':
      return measureText(change[2]) + measureVersions(change[3])
    case 'remove':
      return measureVersions(change[2])
    case 'createAll':
    case 'importPlants':
      return measureTextOfAll(change[1])
    case 'restrict':
      return measureTextOfAll(change[1].stored ?? [])
    default:
      return 0
  }
}

function measureVersions(versions: readonly string[] = []): number {
  return versions.reduce((sum, { length }) => sum + length + STRING_OVERHEAD, 0)
}

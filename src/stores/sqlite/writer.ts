import type { Database } from 'better-sqlite3'
import type {
  CreateResult,
  ImportResult,
  NewPlant,
  NoMatch,
  OnConflict,
  PlantPatch,
  StoredPlant,
} from '../../../service/plant-store.ts'
import { contentVersion } from '../../../service/plant-store.ts'
import type { StoredToken } from '../../../service/token-store.ts'
import { SELECTOR_BYTES } from '../../../service/token-store.ts'
import { type PlantRow, plantOf } from '../plant-row.ts'
import { storeError } from './errors.ts'

/** Every change that the store makes, and what comes of it; see PlantStore and TokenStore. */
export interface Changes {
  create(plant: NewPlant): CreateResult
  update(id: bigint, patch: PlantPatch, expected?: readonly string[]): StoredPlant | NoMatch
  remove(id: bigint, expected?: readonly string[]): 'removed' | NoMatch
  importPlants(plants: readonly NewPlant[], onConflict: OnConflict): ImportResult[]
  addToken(token: StoredToken): boolean
  addFirstToken(token: StoredToken): boolean
  removeToken(name: string): boolean
  noteTokenUse(name: string, at: Date): void
}

/** A change: its name and what it is made with, so that it can be sent to another thread. */
export type Change = {
  [Name in keyof Changes]: [name: Name, ...using: Parameters<Changes[Name]>]
}[keyof Changes]
export type ChangeResult = ReturnType<Changes[keyof Changes]>

/** Makes changes: those of one call in one transaction, and so with one wait for the disk. */
export class Writer {
  readonly #db: Database
  readonly #commit: (changes: readonly Change[]) => ChangeResult[]

  constructor(db: Database) {
    this.#db = db
    const made = prepareChanges(db)
    const make = ([name, ...using]: Change): ChangeResult =>
      (made[name] as (...using: unknown[]) => ChangeResult)(...using)
    const all = db.transaction((changes: readonly Change[]) => changes.map(make))
    this.#commit = all.immediate
  }

  /**
   * Makes all changes, in their order, or none; returns when they are on disk.
   *
   * @throws StoreUnavailable if that cannot be done now
   */
  commit(changes: readonly Change[]): ChangeResult[] {
    try {
      return this.#commit(changes)
    } catch (error) {
      throw storeError(error)
    }
  }

  close(): void {
    this.#db.close()
  }
}

function prepareChanges(db: Database): Changes {
  const insertPlant = db.prepare(
    'INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const findPlant = db.prepare<bigint, PlantRow>('SELECT * FROM plants WHERE id = ?')
  const updatePlant = db.prepare('UPDATE plants SET name = ?, tag = ? WHERE id = ?')
  const deletePlant = db.prepare('DELETE FROM plants WHERE id = ?')
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
    return expected?.includes(contentVersion(plantOf(stored))) === false ? 'changed' : stored
  }
  const importOne = (plant: NewPlant, onConflict: OnConflict): ImportResult => {
    const result = changes.create(plant)
    if (result !== 'conflict' || onConflict === 'stop') return result
    if (onConflict === 'keep') return 'kept'
    updatePlant.run(plant.name, plant.tag ?? null, plant.id)
    return 'replaced'
  }

  const changes: Changes = {
    create({ id, name, tag = null }) {
      if (insertPlant.run(id, name, tag).changes === 1) return 'created'
      const stored = findPlant.get(id)
      return stored?.name === name && stored.tag === tag ? 'replayed' : 'conflict'
    },
    update(id, patch, expected) {
      const stored = findExpected(id, expected)
      if (typeof stored === 'string') return stored
      const { name = stored.name, tag = stored.tag } = patch
      updatePlant.run(name, tag, id)
      return plantOf({ id, name, tag })
    },
    remove(id, expected) {
      const stored = findExpected(id, expected)
      if (typeof stored === 'string') return stored
      deletePlant.run(id)
      return 'removed'
    },
    importPlants(plants, onConflict) {
      const results: ImportResult[] = []
      // Neighbours share a page of the file. The sorting is stable, so those of one id stay in their order.
      const byId = [...plants.entries()].sort(([, a], [, b]) =>
        a.id < b.id ? -1 : Number(a.id > b.id),
      )
      for (const [index, plant] of byId) results[index] = importOne(plant, onConflict)
      const stop = results.indexOf('conflict')
      if (stop === -1) return results
      for (const [index, { id }] of [...plants.entries()].slice(stop)) {
        if (results[index] === 'created') deletePlant.run(id)
      }
      return results.slice(0, stop + 1)
    },
    addToken({ digest, name, scopes, createdAt, expiresAt, lastUsedAt }) {
      const selector = digest.subarray(0, SELECTOR_BYTES)
      const times = [createdAt, expiresAt, lastUsedAt].map((time) => time?.getTime() ?? null)
      return insertToken.run(selector, digest, name, scopes.join(), ...times).changes === 1
    },
    addFirstToken(token) {
      return anyToken.get() === undefined && changes.addToken(token)
    },
    removeToken(name) {
      return deleteToken.run(name).changes === 1
    },
    noteTokenUse(name, at) {
      updateToken.run(at.getTime(), name)
    },
  }
  return changes
}

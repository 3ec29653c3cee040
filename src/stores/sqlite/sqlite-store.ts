import type { Database } from 'better-sqlite3'
import type {
  CreateResult,
  ImportResult,
  NewPlant,
  NoMatch,
  OnConflict,
  Page,
  PageRequest,
  PlantPatch,
  StoredPlant,
} from '../../../service/plant-store.ts'
import type { StoredToken } from '../../../service/token-store.ts'
import { GroupCommit } from '../group-commit.ts'
import { IN_MEMORY, refuseMemory } from '../in-memory.ts'
import type { Store } from '../store.ts'
import { measureChange } from './change-size.ts'
import type { DatabaseOptions } from './database.ts'
import { openDatabase, openSnapshot } from './database.ts'
import { exportPlants, Reader } from './reader.ts'
import { ThreadedWriter } from './threaded-writer.ts'
import type { Change, ChangeResult, ChangeResults, Changes } from './writer.ts'
import { Writer } from './writer.ts'

/** A store in one SQLite file. Reads run on the calling thread; changes go through one writer, by group commit. */
export class SqliteStore implements Store {
  readonly #writer: Writer | ThreadedWriter
  readonly #groupCommit: GroupCommit<Change, ChangeResult>
  readonly #reader: Reader
  readonly #openSnapshot: () => Database
  #closed: Promise<void> | undefined

  /** @throws StoreError with a one-line reason if the database cannot be used */
  constructor(options: DatabaseOptions) {
    if (options.sameThread) refuseMemory(options.file)
    const db = openDatabase(options)
    this.#reader = new Reader(db)
    this.#openSnapshot = () => openSnapshot(db, options)
    if (options.file === IN_MEMORY || options.sameThread) {
      this.#writer = new Writer(db)
      // 2 MB, which is as fast as the default of 16 MB.
      db.pragma('cache_size = -2000')
    } else {
      this.#writer = new ThreadedWriter(options)
      db.pragma('query_only = ON')
      db.pragma('busy_timeout = 0')
    }
    this.#groupCommit = new GroupCommit({
      commit: (changes) => this.#commit(changes),
      sizeOf: measureChange,
    })
  }

  create(plant: NewPlant): Promise<CreateResult> {
    return this.#change<'create'>(['create', plant])
  }

  async get(id: bigint): Promise<StoredPlant | undefined> {
    return this.#reader.get(id)
  }

  async list(request: PageRequest): Promise<Page> {
    return this.#reader.list(request)
  }

  update(
    id: bigint,
    patch: PlantPatch,
    expected?: readonly string[],
  ): Promise<StoredPlant | NoMatch> {
    return this.#change<'update'>(['update', id, patch, expected])
  }

  remove(id: bigint, expected?: readonly string[]): Promise<'removed' | NoMatch> {
    return this.#change<'remove'>(['remove', id, expected])
  }

  importPlants(plants: readonly NewPlant[], onConflict: OnConflict): Promise<ImportResult[]> {
    return this.#change<'importPlants'>(['importPlants', plants, onConflict])
  }

  exportPlants(): AsyncIterable<readonly StoredPlant[]> {
    return exportPlants(this.#openSnapshot)
  }

  async ping(): Promise<void> {
    this.#reader.ping()
  }

  async findToken(selector: Uint8Array): Promise<StoredToken | undefined> {
    return this.#reader.findToken(selector)
  }

  async listTokens(): Promise<StoredToken[]> {
    return this.#reader.listTokens()
  }

  addToken(token: StoredToken): Promise<boolean> {
    return this.#change<'addToken'>(['addToken', token])
  }

  addFirstToken(token: StoredToken): Promise<boolean> {
    return this.#change<'addFirstToken'>(['addFirstToken', token])
  }

  removeToken(name: string): Promise<boolean> {
    return this.#change<'removeToken'>(['removeToken', name])
  }

  noteTokenUse(name: string, at: Date): Promise<void> {
    return this.#change<'noteTokenUse'>(['noteTokenUse', name, at])
  }

  /** Waits for changes in flight, then closes the database, which removes its WAL. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    await this.#groupCommit.settle()
    // The last connection to close removes the WAL, so it must be one that can write.
    this.#reader.close()
    await this.#writer.close()
  }

  async #commit(changes: readonly Change[]): Promise<ChangeResult[]> {
    // Before: a writer on the reader's connection needs it outside a transaction. After: reads must see the changes.
    this.#reader.refresh()
    const results = await this.#writer.commit(changes)
    this.#reader.refresh()
    return results
  }

  #change<Name extends keyof Changes>(change: Changes[Name]): Promise<ChangeResults[Name]> {
    return this.#groupCommit.submit(change) as Promise<ChangeResults[Name]>
  }
}

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
  PlantStore,
  StoredPlant,
} from '../../../service/plant-store.ts'
import type { StoredToken, TokenStore } from '../../../service/token-store.ts'
import { GroupCommit } from '../group-commit.ts'
import { sizeOf } from './change-size.ts'
import type { DatabaseOptions } from './database.ts'
import { IN_MEMORY, openDatabase, openSnapshot } from './database.ts'
import { refuseMemory } from './existing.ts'
import { exportPlants, Reader } from './reader.ts'
import { ThreadedWriter } from './threaded-writer.ts'
import type { Change, ChangeResult, Changes } from './writer.ts'
import { Writer } from './writer.ts'

/**
 * Plants and tokens in one SQLite file. Reads on the calling thread; all changes go through one
 * writer, which commits together what arrives together.
 */
export class SqliteStore implements PlantStore, TokenStore {
  readonly #writer: Writer | ThreadedWriter
  readonly #changes: GroupCommit<Change, ChangeResult>
  readonly #reader: Reader
  readonly #openSnapshot: () => Database
  #closed: Promise<void> | undefined

  /** @throws StoreError saying in a line why the database cannot be used */
  constructor(options: DatabaseOptions) {
    if (options.sameThread) refuseMemory(options.file)
    const db = openDatabase(options)
    this.#reader = new Reader(db)
    this.#openSnapshot = () => openSnapshot(db, options)
    if (options.file === IN_MEMORY || options.sameThread) {
      this.#writer = new Writer(db)
      // As fast as the default of 16 MB, and small.
      db.pragma('cache_size = -2000')
    } else {
      this.#writer = new ThreadedWriter(options)
      db.pragma('query_only = ON')
      db.pragma('busy_timeout = 0')
    }
    this.#changes = new GroupCommit({ commit: (changes) => this.#commit(changes), sizeOf })
  }

  create(plant: NewPlant): Promise<CreateResult> {
    return this.#change('create', plant)
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
    return this.#change('update', id, patch, expected)
  }

  remove(id: bigint, expected?: readonly string[]): Promise<'removed' | NoMatch> {
    return this.#change('remove', id, expected)
  }

  importPlants(plants: readonly NewPlant[], onConflict: OnConflict): Promise<ImportResult[]> {
    return this.#change('importPlants', plants, onConflict)
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
    return this.#change('addToken', token)
  }

  addFirstToken(token: StoredToken): Promise<boolean> {
    return this.#change('addFirstToken', token)
  }

  removeToken(name: string): Promise<boolean> {
    return this.#change('removeToken', name)
  }

  noteTokenUse(name: string, at: Date): Promise<void> {
    return this.#change('noteTokenUse', name, at)
  }

  /** Waits for changes under way, then leaves a database without a log to recover. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    await this.#changes.settle()
    // The last connection to close tidies up, so it must be one that may write.
    this.#reader.close()
    await this.#writer.close()
  }

  async #commit(changes: readonly Change[]): Promise<ChangeResult[]> {
    // A writer on the reader's connection needs it for itself; reads behind a change have to see it.
    this.#reader.refresh()
    const results = await this.#writer.commit(changes)
    this.#reader.refresh()
    return results
  }

  #change<Name extends keyof Changes>(
    name: Name,
    ...using: Parameters<Changes[Name]>
  ): Promise<ReturnType<Changes[Name]>> {
    const result = this.#changes.change([name, ...using] as unknown as Change)
    return result as Promise<ReturnType<Changes[Name]>>
  }
}

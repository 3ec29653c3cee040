import type { MessagePort } from 'node:worker_threads'
import type { Database } from 'better-sqlite3'
import type { ChangesPage, ChangesRequest, NoChanges } from '../../../service/change-feed.ts'
import type {
  BatchResult,
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
import type { WebhookStore } from '../../../service/webhook-store.ts'
import { IN_MEMORY, type OnProblem } from '../engine.ts'
import { GroupCommit, WaitingChanges } from '../group-commit.ts'
import { RetentionClock } from '../retention-clock.ts'
import type { Store, StoreAdvice, StoreLink } from '../store.ts'
import type { Metrics } from '../store-metrics.ts'
import { type ChangeLimits, pruneChanges } from './feed/change-pruner.ts'
import { type DatabaseOptions, openDatabase, openSnapshot, refuseMemory } from './file/database.ts'
import { DatabaseFile, type FileIdentity } from './file/database-file.ts'
import { exportPlants, Reader } from './reader.ts'
import type { SqliteMetrics } from './sqlite-metrics.ts'
import { webhookStore } from './sqlite-webhooks.ts'
import { CommitSignal } from './writer/commit-signal.ts'
import { ThreadedWriter, WriterOwner } from './writer/threaded-writer.ts'
import {
  type Change,
  type ChangeResult,
  measureChange,
  type SubmitChange,
  Writer,
} from './writer/writer.ts'

/** The page cache in KiB, where the default of 16 MB would not be faster. */
const SMALL_CACHE = 2000

/** The data of a StoreLink. */
export interface SqliteLink {
  /** A port of `WriterOwner.connect`. */
  readonly writer: MessagePort
  readonly commits: SharedArrayBuffer
  /** How many threads share the limit of waiting changes. */
  readonly threads: number
  readonly identity: FileIdentity | undefined
}

export interface SqliteStoreOptions extends Omit<DatabaseOptions, 'identity'> {
  readonly onProblem?: OnProblem
  /** Measures what this thread does. Without it, nothing is measured. */
  readonly metrics?: SqliteMetrics | undefined
}

/**
 * A store in one SQLite file. Reads run on the calling thread; changes go through one writer, by group commit. Several
 * threads can share the writer.
 */
export class SqliteStore implements Store {
  readonly webhooks: WebhookStore
  /** Undefined if another thread owns the writer, or if it is in this one. */
  readonly #owner: WriterOwner | undefined
  readonly #writer: Writer | ThreadedWriter
  readonly #metrics: SqliteMetrics | undefined
  readonly #groupCommit: GroupCommit<Change, ChangeResult>
  readonly #change = ((...change: unknown[]) =>
    this.#groupCommit.submit(change as unknown as Change)) as SubmitChange
  readonly #reader: Reader
  readonly #commits: CommitSignal
  readonly #openSnapshot: () => Database
  /** Undefined in memory. */
  readonly #file: DatabaseFile | undefined
  readonly #pruning = new AbortController()
  #closed: Promise<void> | undefined

  /**
   * @param link the data of a StoreLink, if another thread owns the store
   * @throws StoreError with a one-line reason if the database cannot be used
   */
  constructor({ retention, onProblem, metrics, ...given }: SqliteStoreOptions, link?: SqliteLink) {
    if (given.sameThread) refuseMemory(given.file)
    const isWriter = given.file === IN_MEMORY || given.sameThread === true
    const opening = { ...given, identity: link?.identity }
    const db = openDatabase(retention === undefined ? opening : { ...opening, retention })
    this.#file = given.file === IN_MEMORY ? undefined : new DatabaseFile(given.file, link?.identity)
    const options = { ...given, identity: this.#file?.identity }
    this.#openSnapshot = () => {
      this.#file?.assertInPlace()
      return openSnapshot(db, options)
    }
    this.#owner =
      isWriter || link !== undefined
        ? undefined
        : new WriterOwner(options, metrics !== undefined, onProblem)
    const port = link?.writer ?? this.#owner?.connect()
    this.#writer =
      port === undefined
        ? new Writer(db, this.#file, metrics)
        : new ThreadedWriter(port, options.lockTimeout)
    if (isWriter || link !== undefined) db.pragma(`cache_size = -${SMALL_CACHE}`)
    if (!isWriter) {
      db.pragma('query_only = ON')
      db.pragma('busy_timeout = 0')
    }
    this.#commits = this.#owner?.commits ?? new CommitSignal(link?.commits)
    this.#reader = new Reader(db, this.#commits)
    this.webhooks = webhookStore(this.#reader, this.#change)
    const waiting = new WaitingChanges(link?.threads)
    this.#metrics = metrics
    metrics?.measureWaiting(waiting)
    if (this.#owner !== undefined) metrics?.measureSpace(given.file)
    this.#groupCommit = new GroupCommit({
      commit: (changes) => this.#commit(changes),
      sizeOf: measureChange,
      waiting,
    })
    if (retention !== undefined && retention.age > 0) {
      const clock = new RetentionClock(retention.age, onProblem)
      const methods = {
        hasExcess: (limits: ChangeLimits) => this.#reader.hasExcess(limits),
        prune: (limits: ChangeLimits) => this.#change('pruneChanges', limits),
      }
      pruneChanges(retention, clock, methods, this.#pruning.signal)
    }
  }

  share(threads: number): readonly StoreLink[] | undefined {
    const owner = this.#owner
    if (owner === undefined) return undefined
    return Array.from({ length: threads }, () => {
      const writer = owner.connect()
      const data: SqliteLink = {
        writer,
        commits: owner.commits.memory,
        threads,
        identity: this.#file?.identity,
      }
      return { data, transferList: [writer] }
    })
  }

  create(plant: NewPlant): Promise<CreateResult> {
    return this.#change('create', plant)
  }

  createAll(plants: readonly NewPlant[]): Promise<BatchResult> {
    return this.#change('createAll', plants)
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
    this.#file?.assertInPlace()
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

  async readChanges(request: ChangesRequest): Promise<ChangesPage | NoChanges> {
    return this.#reader.readChanges(request)
  }

  nextCommit(): Promise<void> {
    return this.#commits.next(() => this.#reader.readVersion())
  }

  async metrics(): Promise<Metrics> {
    if (this.#metrics === undefined) return []
    const [own, writer = []] = await Promise.all([
      this.#metrics.read(),
      this.#owner?.readMetrics?.(),
    ])
    return [...own, ...writer]
  }

  advise(): StoreAdvice {
    return { warnings: [] }
  }

  /** Waits for changes in flight, then closes the database, which removes its WAL. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#commits.close()
    this.#pruning.abort()
    await this.#groupCommit.settle()
    // The last connection to close removes the WAL, so it must be one that can write.
    this.#reader.close()
    this.#writer.close()
    await this.#owner?.close()
  }

  async #commit(changes: readonly Change[]): Promise<ChangeResult[]> {
    if (this.#writer instanceof ThreadedWriter) return this.#writer.commit(changes)
    // The writer of this thread uses the same connection.
    this.#reader.refresh()
    try {
      return this.#writer.commit(changes)
    } finally {
      this.#commits.add()
    }
  }
}

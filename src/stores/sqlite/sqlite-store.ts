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
import { IN_MEMORY, type OnProblem } from '../engine.ts'
import { GroupCommit, WaitingChanges } from '../group-commit.ts'
import { RetentionClock } from '../retention-clock.ts'
import type { Store, StoreAdvice, StoreLink } from '../store.ts'
import type { Metrics } from '../store-metrics.ts'
import type { ChangeLimits } from './feed/change-excess.ts'
import { pruneChanges } from './feed/change-pruner.ts'
import { measureChange } from './feed/change-size.ts'
import { watchCommits } from './feed/sqlite-commit-watch.ts'
import { type DatabaseOptions, openDatabase, openSnapshot, refuseMemory } from './file/database.ts'
import { DatabaseFile, type FileIdentity } from './file/database-file.ts'
import { prepareMeasurement } from './file/file-space.ts'
import { exportPlants, Reader } from './reader.ts'
import type { SqliteMetrics } from './sqlite-metrics.ts'
import { Webhooks } from './sqlite-webhooks.ts'
import { CommitSignal } from './writer/commit-signal.ts'
import { ThreadedWriter } from './writer/threaded-writer.ts'
import {
  type Change,
  type ChangeResult,
  type ChangeResults,
  type Changes,
  Writer,
} from './writer/writer.ts'
import { WriterOwner } from './writer/writer-owner.ts'

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
  readonly webhooks: Webhooks
  /** Undefined if another thread owns the writer, or if it is in this one. */
  readonly #owner: WriterOwner | undefined
  readonly #writer: Writer | ThreadedWriter
  readonly #waiting: WaitingChanges
  readonly #metrics: SqliteMetrics | undefined
  readonly #groupCommit: GroupCommit<Change, ChangeResult>
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
    this.webhooks = new Webhooks(this.#reader, (change) => this.#change(change))
    if (options.sameThread) watchCommits(db, this.#commits)
    this.#waiting = new WaitingChanges(link?.threads)
    this.#metrics = metrics
    metrics?.measureWaiting(this.#waiting)
    if (this.#owner !== undefined) metrics?.measureSpace(prepareMeasurement(given.file))
    this.#groupCommit = new GroupCommit({
      commit: (changes) => this.#commit(changes),
      sizeOf: measureChange,
      waiting: this.#waiting,
    })
    if (retention !== undefined && retention.age > 0) {
      const methods = {
        hasExcess: (limits: ChangeLimits) => this.#reader.hasExcess(limits),
        prune: (limits: ChangeLimits) => this.#change<'pruneChanges'>(['pruneChanges', limits]),
      }
      const clock = new RetentionClock(retention.age, onProblem)
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
    return this.#change<'create'>(['create', plant])
  }

  createAll(plants: readonly NewPlant[]): Promise<BatchResult> {
    return this.#change<'createAll'>(['createAll', plants])
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

  async readChanges(request: ChangesRequest): Promise<ChangesPage | NoChanges> {
    return this.#reader.readChanges(request)
  }

  nextCommit(): Promise<void> {
    return this.#commits.next()
  }

  async metrics(): Promise<Metrics> {
    if (this.#metrics === undefined) return []
    const [own, writer = []] = await Promise.all([this.#metrics.read(), this.#owner?.readMetrics()])
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

  #change<Name extends keyof Changes>(change: Changes[Name]): Promise<ChangeResults[Name]> {
    return this.#groupCommit.submit(change) as Promise<ChangeResults[Name]>
  }
}

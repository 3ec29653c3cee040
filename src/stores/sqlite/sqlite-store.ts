import type { MessagePort } from 'node:worker_threads'
import type { Database } from 'better-sqlite3'
import { restrictedError } from '../../../service/restriction.ts'
import type { ChangePage, ChangesRequest, NoChanges } from '../../../service/store/change-feed.ts'
import type {
  ChangeOf,
  ChangeOutcome,
  ChangeType,
  CountedRange,
  CountRequest,
  ListResult,
  NoOrder,
  PageRequest,
  PlantChange,
  PlantPage,
  SearchRequest,
  SortedPage,
  SortedRequest,
  StoredPlant,
  StoreUnavailable,
  TagPage,
  TagsRequest,
} from '../../../service/store/plant-store.ts'
import type {
  ApplyMode,
  Guard,
  RecordChange,
  RecordKey,
  RecordKind,
  RecordList,
  StoredRecord,
} from '../../../service/store/record-store.ts'
import { IN_MEMORY, type OnProblem, type Retention } from '../shared/engine.ts'
import { GroupCommit, type Postponed, type Size, WaitingChanges } from '../shared/group-commit.ts'
import { RetentionClock } from '../shared/retention-clock.ts'
import type { Store, StoreAdvice, StoreLink } from '../shared/store.ts'
import type { Metrics } from '../shared/store-metrics.ts'
import { type ChangeLimits, pruneChanges } from './feed/change-pruner.ts'
import { CommitSignal } from './feed/commit-signal.ts'
import { openDatabase, openSnapshot, refuseMemory, type SqliteOptions } from './file/database.ts'
import { type FileIdentity, OpenFile } from './file/file-identity.ts'
import { adviseOnFileSystem } from './file/file-system.ts'
import { exportPlants, Reader } from './reads/reader.ts'
import type { SqliteMetrics } from './writer/sqlite-metrics.ts'
import {
  type CommitResult,
  isRefused,
  measureCall,
  type SubmitWrite,
  type WriteCall,
  type WriteResult,
} from './writer/write-call.ts'
import { Writer } from './writer/writer.ts'
import { WriterClient, WriterHost } from './writer/writer-client.ts'

/** The page cache in KiB, where the default of 16 MB would not be faster. */
const SMALL_CACHE = 2000

/** The data of a StoreLink. */
export interface SqliteLink {
  /** A port of `WriterHost.connect`. */
  readonly writer: MessagePort
  readonly commits: SharedArrayBuffer
  /** How many threads share the limit of waiting changes. */
  readonly threads: number
  readonly identity: FileIdentity | undefined
  readonly damage: SharedArrayBuffer | undefined
}

export interface SqliteStoreOptions extends Omit<SqliteOptions, 'identity' | 'damage'> {
  readonly retention?: Retention
  readonly onProblem?: OnProblem
  /** See StoreOptions. */
  readonly readsIncomplete?: boolean
  /** The metrics of this thread. Without them, nothing is measured. */
  readonly metrics?: SqliteMetrics | undefined
}

/**
 * A store in one SQLite file. Reads run on the calling thread; changes go through one writer, by group commit. Several
 * threads can share the writer.
 */
export class SqliteStore implements Store {
  /** Undefined if this store writes on its own connection, or uses the writer that another thread has started. */
  readonly #writerHost: WriterHost | undefined
  readonly #writer: Writer | WriterClient
  readonly #metrics: SqliteMetrics | undefined
  readonly #groupCommit: GroupCommit<WriteCall, WriteResult>
  // GroupCommit does not relate the type of a call to that of its result.
  readonly #write = ((call) => this.#groupCommit.submit(call)) as SubmitWrite
  readonly #reader: Reader
  readonly #commits: CommitSignal
  readonly #openSnapshot: () => Database
  readonly #readsIncomplete: boolean
  /** Undefined in memory. */
  readonly #file: OpenFile | undefined
  readonly #pruning = new AbortController()
  readonly reset?: (plants: readonly ChangeOf<'create'>[]) => Promise<void>
  #closed: Promise<void> | undefined

  /**
   * @param link the data of a StoreLink, if another thread has opened the store
   * @throws StoreError with a one-line reason if the database cannot be used
   */
  constructor(options: SqliteStoreOptions, link?: SqliteLink) {
    const { retention, onProblem, readsIncomplete = false, metrics, ...given } = options
    if (given.sameThread) refuseMemory(given.file)
    const writesHere = given.file === IN_MEMORY || given.sameThread === true
    const db = openDatabase({ ...given, identity: link?.identity })
    this.#file =
      given.file === IN_MEMORY ? undefined : new OpenFile(given.file, link?.identity, link?.damage)
    const { identity, damage } = this.#file ?? {}
    const located = { ...given, identity, damage }
    this.#openSnapshot = () => {
      this.#file?.assertInPlace()
      return openSnapshot(db, located)
    }
    this.#writerHost =
      writesHere || link !== undefined
        ? undefined
        : new WriterHost(located, metrics !== undefined, onProblem)
    const port = link?.writer ?? this.#writerHost?.connect()
    this.#writer =
      port === undefined
        ? new Writer(db, this.#file, metrics)
        : new WriterClient(port, given.lockTimeout)
    if (writesHere || link !== undefined) db.pragma(`cache_size = -${SMALL_CACHE}`)
    if (!writesHere) {
      db.pragma('query_only = ON')
      db.pragma('busy_timeout = 0')
    }
    this.#commits = this.#writerHost?.commits ?? new CommitSignal(link?.commits)
    this.#readsIncomplete = readsIncomplete
    this.#reader = new Reader(db, { readsIncomplete, toUnavailable: this.#file?.mapError })
    const waiting = new WaitingChanges(link?.threads)
    this.#metrics = metrics
    metrics?.measureWaiting(waiting)
    if (this.#writerHost !== undefined) metrics?.measureSpace(given.file)
    this.#groupCommit = new GroupCommit({
      commit: (changes, size) => this.#commit(changes, size),
      sizeOf: measureCall,
      waiting,
    })
    if (this.#file === undefined) {
      this.reset = async (plants) => {
        await this.#write({ type: 'reset', plants })
      }
    }
    if (retention !== undefined) {
      const clock = new RetentionClock(retention.age, onProblem)
      const methods = {
        hasExcess: (limits: ChangeLimits) => this.#reader.hasExcess(limits),
        prune: (limits: ChangeLimits) => this.#write({ type: 'pruneChanges', limits }),
      }
      pruneChanges(retention, clock, methods, this.#pruning.signal)
    }
  }

  share(threads: number): readonly StoreLink[] | undefined {
    const host = this.#writerHost
    if (host === undefined) return undefined
    return Array.from({ length: threads }, () => {
      const writer = host.connect()
      const data: SqliteLink = {
        writer,
        commits: host.commits.memory,
        threads,
        identity: this.#file?.identity,
        damage: this.#file?.damage,
      }
      return { data, transferList: [writer] }
    })
  }

  change<Type extends ChangeType>(change: ChangeOf<Type>): Promise<ChangeOutcome<Type>> {
    return this.#groupCommit.submit(change) as Promise<ChangeOutcome<Type>>
  }

  apply<Mode extends ApplyMode | Guard>(
    changes: readonly PlantChange[],
    mode: Mode,
  ): Promise<ListResult<Mode>> {
    return this.#write({ type: 'apply', changes, mode }) as Promise<ListResult<Mode>>
  }

  get(id: bigint): Promise<StoredPlant | undefined> {
    return this.#reader.get(id)
  }

  list(request: PageRequest | SearchRequest): Promise<PlantPage> {
    return this.#reader.list(request)
  }

  listSorted(request: SortedRequest): Promise<SortedPage | NoOrder> {
    return this.#reader.listSorted(request)
  }

  async indexPlants(): Promise<boolean> {
    return this.#reader.needsKeys() && (await this.#write({ type: 'indexPlants' }))
  }

  getAll(ids: readonly bigint[]): Promise<PlantPage> {
    return this.#reader.getAll(ids)
  }

  count(request: CountRequest): Promise<CountedRange> {
    return this.#reader.count(request)
  }

  listTags(request: TagsRequest): Promise<TagPage | 'malformed'> {
    return this.#reader.listTags(request)
  }

  exportPlants(): AsyncIterable<readonly StoredPlant[]> {
    const readsIncomplete = this.#readsIncomplete
    const toUnavailable = this.#file?.mapError
    return exportPlants(this.#openSnapshot, { readsIncomplete, toUnavailable })
  }

  async findRecord(kind: RecordKind, key: RecordKey): Promise<StoredRecord | undefined> {
    return this.#reader.findRecord(kind, key)
  }

  async listRecords(kinds: readonly RecordKind[]): Promise<RecordList> {
    return this.#reader.listRecords(kinds)
  }

  changeRecords(changes: readonly RecordChange[], mode: ApplyMode): Promise<boolean[]> {
    return this.#write({ type: 'changeRecords', changes, mode })
  }

  async ping(): Promise<void> {
    this.#file?.assertSound()
    await this.#reader.ping()
  }

  readChanges(request: ChangesRequest): Promise<ChangePage | NoChanges> {
    return this.#reader.readChanges(request)
  }

  nextCommit(): Promise<void> {
    return this.#commits.next(() => this.#reader.readVersion())
  }

  async metrics(): Promise<Metrics> {
    if (this.#metrics === undefined) return []
    const [own, writer = []] = await Promise.all([
      this.#metrics.read(),
      this.#writerHost?.readMetrics?.(),
    ])
    return [...own, ...writer]
  }

  advise(): StoreAdvice {
    return { warnings: this.#file === undefined ? [] : adviseOnFileSystem(this.#file.path) }
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
    await this.#writerHost?.close()
  }

  async #commit(
    changes: readonly WriteCall[],
    size: Size,
  ): Promise<(WriteResult | Postponed | StoreUnavailable)[]> {
    const results = await this.#makeChanges(changes, size)
    return results.map((result) => (isRefused(result) ? restrictedError(result.refusedBy) : result))
  }

  async #makeChanges(changes: readonly WriteCall[], size: Size): Promise<CommitResult[]> {
    if (this.#writer instanceof WriterClient) return this.#writer.commit(changes, size)
    try {
      return this.#writer.commit(changes)
    } finally {
      // After a failure too, because a change that throws may have been applied.
      this.#commits.add()
    }
  }
}

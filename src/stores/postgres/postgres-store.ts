import { known } from '../../../core/known.ts'
import { shareRuns } from '../../../core/time/shared-result.ts'
import type { ChangePage, ChangesRequest, NoChanges } from '../../../service/store/change-feed.ts'
import {
  type ChangeOf,
  type ChangeOutcome,
  type ChangeResult,
  type ChangeType,
  type CountedRange,
  type CountRequest,
  type CreateResult,
  isSearch,
  type ListResult,
  type NoOrder,
  type PageRequest,
  type PlantChange,
  type PlantPage,
  type SearchRequest,
  type SortedPage,
  type SortedRequest,
  type StoredPlant,
  type TagPage,
  type TagsRequest,
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
import { GroupCommit, WaitingChanges } from '../shared/group-commit.ts'
import { InFlight } from '../shared/in-flight.ts'
import {
  type ChangeList,
  type GuardedList,
  isGuarded,
  measureChange,
  measureList,
} from '../shared/plant-change.ts'
import type { Store, StoreAdvice } from '../shared/store.ts'
import type { Metrics } from '../shared/store-metrics.ts'
import type { Connections } from './connection/connections.ts'
import { CAN_READ } from './connection/permissions.ts'
import { one, type Run } from './connection/pooled-client.ts'
import { advise, OBSERVATION, type Observation } from './connection/standby-guarantee.ts'
import type { PostgresFeed } from './feed/postgres-feed.ts'
import { countPlants } from './plants/counts.ts'
import { createPlants } from './plants/creates.ts'
import { applyGuarded } from './plants/guarded-changes.ts'
import { applyLists } from './plants/lists.ts'
import { exportPlants, getPlants, listPlants, pointReads } from './plants/reads.ts'
import { searchPlants } from './plants/searches.ts'
import { indexPlants } from './plants/sort-keys.ts'
import { listSorted } from './plants/sorted-plants.ts'
import { listTags } from './plants/tag-scan.ts'
import { changePlant } from './plants/updates.ts'
import { type OpenDatabase, openDatabase, type PostgresOptions } from './postgres-database.ts'
import type { PostgresMetrics } from './postgres-metrics.ts'
import { changeRecords, findRecord, listRecords } from './records/records.ts'

/** Reads a plant, and the state of the standby guarantee. */
const PING = `SELECT (SELECT id FROM plants LIMIT 1) AS id, ${OBSERVATION} WHERE ${CAN_READ}`

/**
 * A store on a PostgreSQL server. Any number of processes can share it. Concurrent creates share a statement.
 */
export class PostgresStore implements Store {
  readonly #connections: Connections
  readonly #creates: GroupCommit<ChangeOf<'create'>, CreateResult>
  readonly #lists: GroupCommit<ChangeList, ListResult>
  readonly #pointReads: ReturnType<typeof pointReads>
  readonly #feed: PostgresFeed
  readonly #readsIncomplete: boolean
  /** Shared, because one at a time can compute keys, and each needs a connection. */
  readonly #indexPlants = shareRuns(() =>
    this.#inFlight.track(() => indexPlants(this.#connections)),
  )
  readonly #readPlants: Run
  readonly #inFlight = new InFlight()
  readonly #waiting = new WaitingChanges()
  readonly #metrics: PostgresMetrics | undefined
  #closed: Promise<void> | undefined

  private constructor(
    { connections, feed, readPlants }: OpenDatabase,
    readsIncomplete: boolean,
    metrics?: PostgresMetrics,
  ) {
    this.#connections = connections
    this.#feed = feed
    this.#readsIncomplete = readsIncomplete
    this.#readPlants = (text, values) => this.#inFlight.track(() => readPlants(text, values))
    this.#metrics = metrics
    metrics?.measureWaiting(this.#waiting)
    metrics?.measureConnections(() => connections.figures)
    const waiting = this.#waiting
    this.#creates = new GroupCommit({
      waiting,
      commit: (plants: readonly ChangeOf<'create'>[]) =>
        this.#commit(plants.length, () =>
          connections.verified((client) => createPlants(client, plants)),
        ),
      sizeOf: measureChange,
    })
    this.#lists = new GroupCommit({
      waiting,
      commit: async (lists: readonly ChangeList[]) => {
        const changes = lists.reduce((sum, list) => sum + list.changes.length, 0)
        const results = await this.#commit(changes, () =>
          connections.verified((client) => applyLists(client, lists)),
        )
        await feed.noteList(changes)
        return results
      },
      sizeOf: measureList,
    })
    this.#pointReads = pointReads(this.#readPlants)
  }

  /**
   * Connects, and upgrades the schema.
   *
   * @throws StoreError with a one-line reason if the database cannot be used
   */
  static async open(options: PostgresOptions): Promise<PostgresStore> {
    const { readsIncomplete = false, isMeasured } = options
    const database = await openDatabase(options)
    if (!isMeasured) return new PostgresStore(database, readsIncomplete)
    const { PostgresMetrics } = await import('./postgres-metrics.ts')
    return new PostgresStore(database, readsIncomplete, new PostgresMetrics())
  }

  /** Replicas scale a service on PostgreSQL. */
  share(): undefined {}

  change<Type extends ChangeType>(change: ChangeOf<Type>): Promise<ChangeOutcome<Type>> {
    // TypeScript does not relate the type of the change to that of its outcome.
    return this.#change(change) as Promise<ChangeOutcome<Type>>
  }

  apply<Mode extends ApplyMode | Guard>(
    changes: readonly PlantChange[],
    mode: Mode,
  ): Promise<ListResult<Mode>> {
    const list: ChangeList = { changes, mode }
    const results = isGuarded(list) ? this.#applyGuarded(list) : this.#lists.submit(list)
    return results as Promise<ListResult<Mode>>
  }

  get(id: bigint): Promise<StoredPlant | undefined> {
    return this.#pointReads(id)
  }

  list(request: PageRequest | SearchRequest): Promise<PlantPage> {
    return isSearch(request)
      ? searchPlants(this.#readPlants, request)
      : listPlants(this.#readPlants, request)
  }

  listSorted(request: SortedRequest): Promise<SortedPage | NoOrder> {
    return listSorted(this.#readPlants, request)
  }

  indexPlants(): Promise<boolean> {
    return this.#indexPlants()
  }

  getAll(ids: readonly bigint[]): Promise<PlantPage> {
    return getPlants(this.#readPlants, ids)
  }

  count(request: CountRequest): Promise<CountedRange> {
    return countPlants(this.#readPlants, request)
  }

  listTags(request: TagsRequest): Promise<TagPage | 'malformed'> {
    return listTags(this.#readPlants, request)
  }

  exportPlants(): AsyncIterable<readonly StoredPlant[]> {
    return this.#connections.readSnapshot((run) => exportPlants(run, this.#readsIncomplete))
  }

  findRecord(kind: RecordKind, key: RecordKey): Promise<StoredRecord | undefined> {
    return findRecord(this.#read, kind, key)
  }

  listRecords(kinds: readonly RecordKind[]): Promise<RecordList> {
    return listRecords(this.#read, kinds)
  }

  changeRecords(changes: readonly RecordChange[], mode: ApplyMode): Promise<boolean[]> {
    return this.#inFlight.track(() =>
      this.#connections.verified((client) => changeRecords(client, changes, mode)),
    )
  }

  async ping(): Promise<void> {
    const { guarantee, damage } = this.#connections
    guarantee.note(one(await this.#readPlants<Observation>(PING)))
    guarantee.assertHeld()
    await damage.assertNone()
  }

  readChanges(request: ChangesRequest): Promise<ChangePage | NoChanges> {
    return this.#feed.readChanges(request)
  }

  nextCommit(): Promise<void> {
    return this.#feed.nextCommit()
  }

  advise(): StoreAdvice {
    return advise(this.#connections.guarantee)
  }

  async metrics(): Promise<Metrics> {
    return this.#metrics?.read() ?? []
  }

  /** Waits for changes in flight, then closes the connections. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  readonly #read: Run = (text, values) =>
    this.#inFlight.track(() => this.#connections.query(text, values))

  async #change(change: PlantChange): Promise<ChangeOutcome> {
    switch (change.type) {
      case 'create':
        return this.#creates.submit(change)
      case 'put': {
        const results = await this.#lists.submit({ changes: [change], mode: 'each' })
        return known(results[0]) as ChangeResult<'put'>
      }
      default:
        return this.#inFlight.track(() =>
          this.#commit(1, () =>
            this.#connections.verifiedChange((client) => changePlant(client, change)),
          ),
        )
    }
  }

  #applyGuarded(list: GuardedList): Promise<ListResult<Guard>> {
    return this.#inFlight.track(async () => {
      const results = await applyGuarded(this.#connections, list)
      this.#feed.noteCommit()
      await this.#feed.noteList(list.changes.length)
      return results
    })
  }

  /** Makes changes, then wakes the readers of the feed and measures the commit. */
  async #commit<Result>(changes: number, make: () => Promise<Result>): Promise<Result> {
    const start = performance.now()
    const result = await make()
    this.#feed.noteCommit()
    this.#metrics?.duration.observe((performance.now() - start) / 1000)
    this.#metrics?.changes.observe(changes)
    return result
  }

  async #close(): Promise<void> {
    await this.#feed.close()
    await Promise.all([this.#creates.settle(), this.#lists.settle(), this.#inFlight.settle()])
    await this.#connections.close()
  }
}

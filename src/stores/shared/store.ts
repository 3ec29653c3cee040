import type { Transferable } from 'node:worker_threads'
import type {
  ChangeOf,
  PageRequest,
  PlantPage,
  PlantStore,
  RequestStore,
} from '../../../service/store/plant-store.ts'
import type { RecordStore } from '../../../service/store/record-store.ts'
import type { Metrics } from './store-metrics.ts'

/** A store as each thread that serves requests uses it. */
export interface ThreadStore extends RequestStore, RecordStore {
  /**
   * The metrics of this thread. Those of the database itself are included only for the thread that opened the store.
   * Empty unless the store was opened with `isMeasured`.
   */
  metrics(): Promise<Metrics>

  /**
   * Completes the changes in flight, then closes the database. Reads in flight can fail. Further calls have no effect.
   */
  close(): Promise<void>
}

/** Advice for the operator of a database. */
export interface StoreAdvice {
  readonly warnings: readonly string[]
  /**
   * The guarantee of an acknowledgement: the rest of a sentence that begins with "changes", such as "are acknowledged
   * once they are on 1 standby". Undefined if there is nothing to report, as on SQLite.
   */
  readonly acknowledgement?: string
}

/** The plants and records of a database, for reading only. */
export interface PlantReader
  extends Pick<PlantStore, 'getAll' | 'exportPlants'>,
    Pick<RecordStore, 'findRecord'> {
  /** See PlantStore.list. */
  list(request: PageRequest): Promise<PlantPage>
  close(): Promise<void>
}

/** Plants and records in one database. */
export interface Store extends ThreadStore, PlantStore {
  /**
   * Lets other threads use the store, through `Engine.join`. Close the store only after the threads have closed theirs.
   * Returns a link for each of them, or undefined if only this thread can use the store.
   */
  share(threads: number): readonly StoreLink[] | undefined

  /**
   * Replaces all plants, in one transaction, and begins a new change feed with the new ones, so that all cursors expire.
   * Records stay. Undefined unless the store is in memory, because only tests need it.
   *
   * @param plants with different ids
   */
  readonly reset?: (plants: readonly ChangeOf<'create'>[]) => Promise<void>

  /** Advice for the start of the service. */
  advise(): StoreAdvice
}

/** Lets another thread use a store. */
export interface StoreLink {
  /** Cloneable, apart from what is in `transferList`. */
  readonly data: unknown
  readonly transferList: Transferable[]
}

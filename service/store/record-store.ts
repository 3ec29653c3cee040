/** What a record is about. Its meaning is that of the service; to a store, it is text. */
export type RecordKind =
  | 'restriction'
  | 'setting'
  | 'sort-index'
  | 'token'
  | 'webhook'
  | 'webhook-lease'
  | 'webhook-progress'

/** A record as stored. */
export interface StoredRecord {
  readonly kind: RecordKind
  /** Unique within its kind. */
  readonly key: string
  /** JSON, exactly as it was stored. */
  readonly value: string
  /** A second key, also unique within its kind. Records are found by it as quickly as by the first. */
  readonly alias?: string
}

/** A change to one record: compare-and-set. */
export interface RecordChange {
  readonly kind: RecordKind
  readonly key: string
  /** The value before the change. Undefined if there must be no record with the key. */
  readonly expected: string | undefined
  /** The value after the change. Undefined removes the record. */
  readonly next: string | undefined
  /** The alias of a new record. */
  readonly alias?: string
  /** How many records of the kind there may be, with the new one. By default, any number. */
  readonly max?: number
}

/** Whether a list of changes is applied as a whole, or each change on its own. */
export type ApplyMode = 'all-or-none' | 'each'

/** Which record to find. */
export type RecordKey = { readonly key: string } | { readonly alias: string }

/**
 * Stores what a service keeps beside its plants, in the same database. A change is visible to every process from its
 * next call. It is not a change to a plant, so it is not in the ChangeFeed, and a Restriction does not prevent it. Every
 * method throws StoreUnavailable if the store is temporarily unavailable.
 */
export interface RecordStore {
  /** Resolves to the record with the key, or undefined if there is none. Takes one indexed read. */
  findRecord(kind: RecordKind, key: RecordKey): Promise<StoredRecord | undefined>

  /** Resolves to all records of some kinds. */
  listRecords(kinds: readonly RecordKind[]): Promise<RecordList>

  /**
   * Changes records in one transaction, in order, and as durably as plants. Resolves to whether each was changed: it was
   * not if its value was another than the expected one, a key or alias was taken, or there were too many. With
   * `all-or-none`, all are false then.
   *
   * @param changes of different records
   */
  changeRecords(changes: readonly RecordChange[], mode: ApplyMode): Promise<boolean[]>
}

export interface RecordList {
  /** As they were at one moment, ordered by key in code point order. */
  readonly records: readonly StoredRecord[]
  /**
   * The time by the clock that all processes share, in milliseconds since 1970: that of the machine on SQLite, that of the
   * server on PostgreSQL.
   */
  readonly now: number
}

/** Changes one record as RecordStore.changeRecords does. */
export async function changeRecord(
  store: Pick<RecordStore, 'changeRecords'>,
  change: RecordChange,
): Promise<boolean> {
  const [isChanged = false] = await store.changeRecords([change], 'each')
  return isChanged
}

/** What must hold for a list of changes to plants, and what else changes with them. */
export interface Guard {
  /** Must be possible, and is made with the changes. */
  readonly record: RecordChange
  /** How much text the changes may affect, if there are several. See LIST_TEXT_MAX. */
  readonly textMax: number
  /** Whether the store begins or ends to refuse all changes to plants without a guard. */
  readonly restricts: 'begin' | 'end' | undefined
  /** Whether there must be no plant before the changes. */
  readonly mustBeEmpty: boolean
  /** Whether a new change feed begins, so that the cursors of the previous one expire. It can still have its changes. */
  readonly renewsFeed: boolean
  /** How many changes must create a plant, and how many remove one. By default, any number. */
  readonly effect: { readonly created: number; readonly removed: number } | undefined
}

/**
 * Why a guard does not hold:
 * - `unexpected`: the record was not the expected one;
 * - `not-empty`: there is a plant, although there must be none;
 * - `diverged`: the effect was not the required one.
 */
export type GuardRefusal = 'unexpected' | 'not-empty' | 'diverged'

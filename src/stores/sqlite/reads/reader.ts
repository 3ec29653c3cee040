import type { Database } from 'better-sqlite3'
import { INT64_MIN } from '../../../../core/json/int64.ts'
import { assertReadable } from '../../../../service/restriction.ts'
import type {
  ChangePage,
  ChangesRequest,
  NoChanges,
} from '../../../../service/store/change-feed.ts'
import { textLength } from '../../../../service/store/plant-content.ts'
import { readsText } from '../../../../service/store/plant-filter.ts'
import {
  type CountedRange,
  type CountRequest,
  isSearch,
  type NoOrder,
  PAGE_TEXT_MAX,
  type PageRequest,
  type PlantPage,
  type SearchRequest,
  type SortedPage,
  type SortedRequest,
  type StoredPlant,
  StoreUnavailable,
  type TagPage,
  type TagsRequest,
} from '../../../../service/store/plant-store.ts'
import type {
  RecordKey,
  RecordKind,
  RecordList,
  StoredRecord,
} from '../../../../service/store/record-store.ts'
import { EXPORT_BATCH_SIZE } from '../../shared/page-limits.ts'
import { byDirection, firstAfter, inDirection } from '../../shared/reads/direction.ts'
import {
  type PlantRow,
  RECORD_COLUMNS,
  type RecordRow,
  toPlant,
  toRecord,
} from '../../shared/rows.ts'
import { type ChangeLimits, prepareExcess } from '../feed/change-pruner.ts'
import { prepareRestrictionRead } from '../file/restriction-barrier.ts'
import { mapError } from '../file/sqlite-errors.ts'
import { prepareChangeRead } from './change-reader.ts'
import { prepareCount, STEPS_MAX } from './plant-count.ts'
import { JSON_OR_ID } from './plant-json.ts'
import { preparePage } from './plant-page.ts'
import { prepareMatch, prepareSearch } from './plant-search.ts'
import { prepareIndexCheck, prepareSorted } from './sorted-plants.ts'
import { prepareTagScan } from './tag-scan.ts'

/** How long reads can keep the event loop busy. This also limits the results in memory that are not sent yet. */
const TURN_MS_MAX = 5

interface PendingRead {
  /** Reads, and resolves the promise of the read. */
  readonly read: () => void
  readonly reject: (error: unknown) => void
}

export interface ReaderOptions {
  /** See StoreOptions. */
  readonly readsIncomplete?: boolean
  /** Maps the errors of SQLite. */
  readonly toUnavailable?: typeof mapError | undefined
}

/**
 * Reads plants, changes and records. Every method throws StoreUnavailable if the database
 * cannot be read now.
 *
 * Requests read in groups: the reads that arrive in one turn of the event loop share a transaction, because locking and
 * unlocking the file takes as long as a read. The transaction begins after they have arrived, so each of them sees
 * every change that was acknowledged before. Their responses are also sent together, which wakes a client on the same
 * machine less often.
 */
export class Reader {
  readonly #db: Database
  readonly #mapError: typeof mapError
  readonly #statements: ReturnType<typeof prepareReads>
  readonly #search: ReturnType<typeof prepareSearch>
  readonly #count: ReturnType<typeof prepareCount>
  readonly #fillPage: ReturnType<typeof preparePage>
  readonly #listSorted: ReturnType<typeof prepareSorted>
  readonly #needsKeys: ReturnType<typeof prepareIndexCheck>
  readonly #listTags: ReturnType<typeof prepareTagScan>
  readonly #readChanges: ReturnType<typeof prepareChangeRead>
  readonly #hasExcess: ReturnType<typeof prepareExcess>
  readonly #assertReadable: () => void
  readonly #readWaiting = () => {
    // `close` may have rejected them.
    if (this.#waiting.length > 0) this.#readGroup()
  }
  #waiting: PendingRead[] = []

  constructor(db: Database, { readsIncomplete, toUnavailable = mapError }: ReaderOptions = {}) {
    this.#db = db
    this.#assertReadable = readsIncomplete ? () => {} : prepareReadableCheck(db)
    this.#mapError = toUnavailable
    this.#statements = prepareReads(db)
    const beginMatch = prepareMatch(db)
    this.#search = prepareSearch(db, beginMatch)
    this.#count = prepareCount(db, beginMatch)
    this.#fillPage = preparePage(db)
    this.#listSorted = prepareSorted(db, this.#fillPage)
    this.#needsKeys = prepareIndexCheck(db)
    this.#listTags = prepareTagScan(db)
    this.#readChanges = prepareChangeRead(db)
    this.#hasExcess = prepareExcess(db)
  }

  /**
   * Differs from the last value if another connection has made a change in the meantime. Undefined if the file cannot be
   * read now.
   */
  readVersion(): number | undefined {
    try {
      return this.#statements.version.get()
    } catch {
      return undefined
    }
  }

  /** Takes the same way as a read, so that it fails or waits if reads do. */
  ping(): Promise<unknown> {
    return this.#read(() => this.#statements.exists.get(INT64_MIN))
  }

  get(id: bigint): Promise<StoredPlant | undefined> {
    return this.#read(() => {
      const row = this.#statements.plant.get(id)
      return row && toPlant(row)
    })
  }

  list(request: PageRequest | SearchRequest): Promise<PlantPage> {
    return this.#read(() => (isSearch(request) ? this.#search(request) : this.#list(request)))
  }

  #list({ after, isDescending, tag, limit }: PageRequest): PlantPage {
    const { page, pageOfTag } = inDirection(this.#statements.pages, isDescending)
    return this.#fillPage(limit, (last, wanted) => {
      const from = firstAfter(last ?? after, isDescending)
      if (from === undefined) return []
      return tag === undefined ? page.all(from, wanted) : pageOfTag.all(tag, from, wanted)
    })
  }

  getAll(ids: readonly bigint[]): Promise<PlantPage> {
    return this.#read(() => {
      const left = [...ids]
      return this.#fillPage(ids.length, (_, wanted) => left.splice(0, wanted))
    })
  }

  async count(request: CountRequest): Promise<CountedRange> {
    let found = 0
    let { after } = request
    for (let steps = 1; ; steps++) {
      const from = after
      const range = await this.#read(() => this.#count({ ...request, after: from }))
      found += range.found
      after = range.next
      const isLast = after === undefined || readsText(request) || steps === STEPS_MAX
      if (isLast) return { found, next: after }
    }
  }

  listSorted(request: SortedRequest): Promise<SortedPage | NoOrder> {
    return this.#read(() => this.#listSorted(request))
  }

  /** Whether PlantStore.indexPlants can have something to do. */
  needsKeys(): boolean {
    return this.#readNow(this.#needsKeys)
  }

  listTags(request: TagsRequest): Promise<TagPage | 'malformed'> {
    return this.#read(() => this.#listTags(request))
  }

  readChanges(request: ChangesRequest): Promise<ChangePage | NoChanges> {
    return this.#read(() => this.#readChanges(request))
  }

  hasExcess(limits: ChangeLimits): boolean {
    return this.#readNow(() => this.#hasExcess(limits))
  }

  findRecord(kind: RecordKind, key: RecordKey): StoredRecord | undefined {
    const { record, recordByAlias } = this.#statements
    return this.#readNow(() => {
      const row = 'key' in key ? record.get(kind, key.key) : recordByAlias.get(kind, key.alias)
      return row && toRecord(row)
    })
  }

  listRecords(kinds: readonly RecordKind[]): RecordList {
    const rows = this.#readNow(() => this.#statements.records.all(JSON.stringify(kinds)))
    return { records: rows.map(toRecord), now: Date.now() }
  }

  #read<Result>(read: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(this.#readWaiting)
      this.#waiting.push({ read: () => resolve(read()), reject })
    })
  }

  /** Rejects the waiting reads. */
  close(): void {
    for (const { reject } of this.#waiting) {
      reject(new StoreUnavailable('failing', 'it is closed'))
    }
    this.#waiting = []
    this.#db.close()
  }

  #readNow<Result>(read: () => Result): Result {
    try {
      return read()
    } catch (error) {
      throw this.#mapError(error)
    }
  }

  #begin(): void {
    this.#statements.begin.run()
    try {
      this.#assertReadable()
    } catch (error) {
      this.#statements.rollback.run()
      throw error
    }
  }

  #readGroup(): void {
    const end = performance.now() + TURN_MS_MAX
    let count = 0
    for (const { read, reject } of this.#waiting) {
      count++
      try {
        // An error can end the transaction.
        if (!this.#db.inTransaction) this.#begin()
        read()
      } catch (error) {
        reject(this.#mapError(error))
      }
      if (performance.now() >= end) break
    }
    // Unlike COMMIT, ROLLBACK also works if the file is damaged.
    if (this.#db.inTransaction) this.#statements.rollback.run()
    this.#waiting = this.#waiting.slice(count)
    if (this.#waiting.length > 0) setImmediate(this.#readWaiting)
  }
}

/**
 * All plants by id, as they are at the first read.
 *
 * @param open opens a connection for this export; it is closed at the end
 * @throws StoreUnavailable if the database cannot be read, or fails during the export
 */
export async function* exportPlants(
  open: () => Database,
  { readsIncomplete, toUnavailable = mapError }: ReaderOptions = {},
): AsyncGenerator<StoredPlant[], void> {
  let db: Database | undefined
  try {
    db = open()
    db.exec('BEGIN')
    if (!readsIncomplete) prepareReadableCheck(db)()
    const rows = db.prepare<[], PlantRow>('SELECT * FROM plants ORDER BY id').iterate()
    yield* toBatches(rows)
  } catch (error) {
    throw toUnavailable(error)
  } finally {
    db?.close()
  }
}

/** Returns a function that throws StoreUnavailable if the database is an incomplete mirror. */
function prepareReadableCheck(db: Database): () => void {
  const read = prepareRestrictionRead(db)
  return () => assertReadable(read())
}

/** Groups plants into batches, limited in number and text. */
function* toBatches(rows: Iterable<PlantRow>): Generator<StoredPlant[], void> {
  let batch: StoredPlant[] = []
  let text = 0
  for (const row of rows) {
    const plant = toPlant(row)
    batch.push(plant)
    text += textLength(plant)
    if (batch.length < EXPORT_BATCH_SIZE && text < PAGE_TEXT_MAX) continue
    yield batch
    batch = []
    text = 0
  }
  if (batch.length > 0) yield batch
}

export const LIST_RECORDS = `
  SELECT ${RECORD_COLUMNS} FROM plant_store_records
  WHERE kind IN (SELECT value FROM json_each(?)) ORDER BY key`

const RECORDS = `SELECT ${RECORD_COLUMNS} FROM plant_store_records WHERE kind = ?`

function prepareReads(db: Database) {
  return {
    begin: db.prepare('BEGIN'),
    rollback: db.prepare('ROLLBACK'),
    version: db.prepare<[], number>('PRAGMA data_version').safeIntegers(false).pluck(),
    exists: db.prepare<bigint>('SELECT 1 FROM plants WHERE id = ?'),
    plant: db.prepare<bigint, PlantRow>('SELECT * FROM plants WHERE id = ?'),
    // With a plain `LIMIT ?` or `tag = ?`, SQLite would prepare the statement again for every run, because their values
    // can change the plan. That takes as long as reading 20 plants.
    pages: byDirection(({ from, order }) => ({
      page: db
        .prepare<[bigint, number], string | bigint>(
          `SELECT ${JSON_OR_ID} FROM plants WHERE id ${from} ? ORDER BY id ${order} LIMIT ? + 0`,
        )
        .pluck(),
      pageOfTag: db
        .prepare<[string, bigint, number], string | bigint>(
          `SELECT ${JSON_OR_ID} FROM plants WHERE tag = +? AND id ${from} ? ORDER BY id ${order} LIMIT ? + 0`,
        )
        .pluck(),
    })),
    record: db.prepare<[string, string], RecordRow>(`${RECORDS} AND key = ?`),
    recordByAlias: db.prepare<[string, string], RecordRow>(`${RECORDS} AND alias = ?`),
    records: db.prepare<string, RecordRow>(LIST_RECORDS),
  }
}

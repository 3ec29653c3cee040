import type { Database } from 'better-sqlite3'
import { INT64_MAX, INT64_MIN } from '../../../../contract/int64.ts'
import type { ChangePage, ChangesRequest, NoChanges } from '../../../../service/change-feed.ts'
import { textLength } from '../../../../service/plant-content.ts'
import {
  type PageRequest,
  type PlantCount,
  type PlantFilter,
  type PlantPage,
  type SearchRequest,
  type StoredPlant,
  StoreUnavailable,
  type TagPage,
  type TagsRequest,
} from '../../../../service/plant-store.ts'
import type {
  RecordKey,
  RecordKind,
  RecordList,
  StoredRecord,
} from '../../../../service/record-store.ts'
import type { AcquireSlot } from '../../../../service/short-read.ts'
import { type ReadLimit, readLimited, TOO_LONG, UNLIMITED } from '../../shared/limited-read.ts'
import { BATCH_TEXT_MAX, EXPORT_BATCH_SIZE, ROWS_MAX } from '../../shared/page-limits.ts'
import {
  joinPlants,
  type PlantRow,
  RECORD_COLUMNS,
  type RecordRow,
  toPlant,
  toRecord,
} from '../../shared/rows.ts'
import { type ChangeLimits, prepareExcess } from '../feed/change-pruner.ts'
import { mapError } from '../file/sqlite-errors.ts'
import { prepareChangeRead } from './change-reader.ts'
import { prepareCount } from './plant-count.ts'
import { JSON_OR_ID, lastIdOf, PLANT_JSON, TEXT_BYTES } from './plant-json.ts'
import { prepareSearch } from './plant-search.ts'
import type { Read } from './plant-slices.ts'
import { prepareTagScan } from './tag-scan.ts'

/** How long reads can keep the event loop busy. This also limits the results in memory that are not sent yet. */
const TURN_MS_MAX = 5

interface PendingRead {
  /** Reads, and resolves the promise of the read. */
  readonly run: () => void
  readonly reject: (error: unknown) => void
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
  readonly #scanTags: ReturnType<typeof prepareTagScan>
  readonly #readChanges: ReturnType<typeof prepareChangeRead>
  readonly #hasExcess: ReturnType<typeof prepareExcess>
  readonly #readWaiting = () => {
    // `close` may have rejected them.
    if (this.#waiting.length > 0) this.#readGroup()
  }
  readonly #read: Read = (read) =>
    new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(this.#readWaiting)
      this.#waiting.push({ run: () => resolve(read()), reject })
    })
  #waiting: PendingRead[] = []

  /** @param toUnavailable maps the errors of SQLite */
  constructor(db: Database, toUnavailable = mapError) {
    this.#db = db
    this.#mapError = toUnavailable
    this.#statements = prepareReads(db)
    this.#search = prepareSearch(db, this.#read)
    this.#count = prepareCount(db, this.#read)
    this.#scanTags = prepareTagScan(db, this.#read)
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

  get(id: bigint, acquireSlot?: AcquireSlot): Promise<StoredPlant | undefined> {
    return this.#readLimited(acquireSlot, (max) => {
      const row = this.#statements.plant.get(id, max.text)
      return row === undefined ? this.#whyMissing(id, max) : toPlant(row)
    })
  }

  list(request: PageRequest, acquireSlot?: AcquireSlot): Promise<PlantPage> {
    return this.#readLimited(acquireSlot, (max) => this.#list(request, max))
  }

  #list({ after, tag, limit }: PageRequest, max: ReadLimit): PlantPage | typeof TOO_LONG {
    const plants: string[] = []
    let text = 0
    let last = after
    while (last !== INT64_MAX) {
      const wanted = Math.min(limit + 1 - plants.length, ROWS_MAX)
      const found = this.#page(tag, last === undefined ? INT64_MIN : last + 1n, wanted)
      for (const row of found) {
        if (plants.length === limit || text >= BATCH_TEXT_MAX) return toPage(plants)
        const plant =
          typeof row === 'string' ? row : this.#statements.json.get(row, max.text - text)
        if (plant === undefined) return TOO_LONG
        plants.push(plant)
        text += plant.length
        if (text > max.text || plants.length > max.rows) return TOO_LONG
      }
      if (found.length < wanted) break
      last = lastIdOf(plants)
    }
    return { json: joinPlants(plants), next: undefined }
  }

  /** The plants as JSON, or their ids if they are large. */
  #page(tag: string | undefined, from: bigint, limit: number): (string | bigint)[] {
    const { page, pageOfTag } = this.#statements
    return tag === undefined ? page.all(from, limit) : pageOfTag.all(tag, from, limit)
  }

  getAll(ids: readonly bigint[], acquireSlot?: AcquireSlot): Promise<PlantPage> {
    return this.#readLimited(acquireSlot, (max) => this.#getAll(ids, max))
  }

  #getAll(ids: readonly bigint[], max: ReadLimit): PlantPage | typeof TOO_LONG {
    const plants: string[] = []
    let text = 0
    for (const id of ids) {
      if (text >= BATCH_TEXT_MAX) return toPage(plants)
      const plant = this.#statements.json.get(id, max.text - text) ?? this.#whyMissing(id, max)
      if (plant === undefined) continue
      if (plant === TOO_LONG) return TOO_LONG
      plants.push(plant)
      text += plant.length
      if (text > max.text || plants.length > max.rows) return TOO_LONG
    }
    return { json: joinPlants(plants), next: undefined }
  }

  async search(request: SearchRequest, acquireSlot?: AcquireSlot): Promise<PlantPage> {
    await acquireSlot?.()
    return this.#search(request)
  }

  async count(filter: PlantFilter, acquireSlot?: AcquireSlot): Promise<PlantCount> {
    await acquireSlot?.()
    return this.#count(filter)
  }

  listTags(request: TagsRequest, acquireSlot?: AcquireSlot): Promise<TagPage | 'malformed'> {
    return this.#scanTags(request, acquireSlot)
  }

  readChanges(request: ChangesRequest, acquireSlot?: AcquireSlot): Promise<ChangePage | NoChanges> {
    return this.#readLimited(acquireSlot, (max) => this.#readChanges(request, max))
  }

  #readLimited<Result>(
    acquireSlot: AcquireSlot | undefined,
    read: (max: ReadLimit) => Result | typeof TOO_LONG,
  ): Promise<Result> {
    return readLimited(acquireSlot, (max) => this.#read(() => read(max)))
  }

  /** Why a limited read of a plant has found none. */
  #whyMissing(id: bigint, max: ReadLimit): undefined | typeof TOO_LONG {
    if (max === UNLIMITED) return undefined
    return this.#statements.exists.get(id) === undefined ? undefined : TOO_LONG
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

  #readGroup(): void {
    const end = performance.now() + TURN_MS_MAX
    let count = 0
    for (const { run, reject } of this.#waiting) {
      count++
      try {
        // An error can end the transaction.
        if (!this.#db.inTransaction) this.#statements.begin.run()
        run()
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
 * @param toUnavailable maps the errors of SQLite
 * @throws StoreUnavailable if the database cannot be read, or fails during the export
 */
export async function* exportPlants(
  open: () => Database,
  toUnavailable = mapError,
): AsyncGenerator<StoredPlant[], void> {
  let db: Database | undefined
  try {
    db = open()
    const rows = db.prepare<[], PlantRow>('SELECT * FROM plants ORDER BY id').iterate()
    yield* toBatches(rows)
  } catch (error) {
    throw toUnavailable(error)
  } finally {
    db?.close()
  }
}

/** Groups plants into batches, limited in number and text. */
function* toBatches(rows: Iterable<PlantRow>): Generator<StoredPlant[], void> {
  let batch: StoredPlant[] = []
  let text = 0
  for (const row of rows) {
    const plant = toPlant(row)
    batch.push(plant)
    text += textLength(plant)
    if (batch.length < EXPORT_BATCH_SIZE && text < BATCH_TEXT_MAX) continue
    yield batch
    batch = []
    text = 0
  }
  if (batch.length > 0) yield batch
}

function toPage(plants: readonly string[]): PlantPage {
  return { json: joinPlants(plants), next: lastIdOf(plants) }
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
    plant: db.prepare<[bigint, number], PlantRow>(
      `SELECT * FROM plants WHERE id = ? AND ${TEXT_BYTES} <= ?`,
    ),
    json: db
      .prepare<[bigint, number], string>(
        `SELECT ${PLANT_JSON} FROM plants WHERE id = ? AND ${TEXT_BYTES} <= ?`,
      )
      .pluck(),
    // With a plain `LIMIT ?` or `tag = ?`, SQLite would prepare the statement again for every run, because their values
    // can change the plan. That takes as long as reading 20 plants.
    page: db
      .prepare<[bigint, number], string | bigint>(
        `SELECT ${JSON_OR_ID} FROM plants WHERE id >= ? ORDER BY id LIMIT ? + 0`,
      )
      .pluck(),
    pageOfTag: db
      .prepare<[string, bigint, number], string | bigint>(
        `SELECT ${JSON_OR_ID} FROM plants WHERE tag = +? AND id >= ? ORDER BY id LIMIT ? + 0`,
      )
      .pluck(),
    record: db.prepare<[string, string], RecordRow>(`${RECORDS} AND key = ?`),
    recordByAlias: db.prepare<[string, string], RecordRow>(`${RECORDS} AND alias = ?`),
    records: db.prepare<string, RecordRow>(LIST_RECORDS),
  }
}

import type { Database } from 'better-sqlite3'
import type { Page, PageRequest, StoredPlant } from '../../../service/plant-store.ts'
import type { StoredToken } from '../../../service/token-store.ts'
import { MAX_INT64, MIN_INT64 } from '../../contract/int64.ts'
import { type PlantRow, plantOf } from '../plant-row.ts'
import { EXPORT_BATCH_SIZE, MAX_TEXT } from '../read-limits.ts'
import { type TokenRow, tokenOf } from '../token-row.ts'
import { storeError } from './errors.ts'

/** Rows that are asked for at a time: one by one takes twice as long, and large ones take memory. */
const READ_TOGETHER = 34

/**
 * Reads; every method throws StoreUnavailable when that cannot be done now.
 *
 * What is read in one turn of the event loop is read in one transaction, as locking and unlocking the
 * file for each takes as long as the reading itself.
 */
export class Reader {
  readonly #db: Database
  readonly #statements: ReturnType<typeof prepareReads>
  readonly #endTurn = () => this.refresh()
  #inTurn = false

  constructor(db: Database) {
    this.#db = db
    this.#statements = prepareReads(db)
  }

  /** What is read from now on was not read before: call it when a change has been made. */
  refresh(): void {
    this.#inTurn = false
    // An error may have ended it already. Unlike COMMIT this works with a damaged file too.
    if (this.#db.inTransaction) this.#statements.rollback.run()
  }

  ping(): void {
    this.#reading(() => this.#statements.anyPlant.get())
  }

  get(id: bigint): StoredPlant | undefined {
    const row = this.#reading(() => this.#statements.plant.get(id))
    return row && plantOf(row)
  }

  list({ after, tag, limit }: PageRequest): Page {
    const plants: StoredPlant[] = []
    let text = 0
    let from = after === undefined ? MIN_INT64 : after + 1n
    while (from <= MAX_INT64) {
      const wanted = Math.min(limit + 1 - plants.length, READ_TOGETHER)
      const rows = this.#rows(tag, from, wanted)
      for (const row of rows) {
        if (plants.length === limit || text >= MAX_TEXT) return { plants, more: true }
        plants.push(plantOf(row))
        text += lengthOf(row)
      }
      const last = rows.at(-1)
      if (last === undefined || rows.length < wanted) break
      from = last.id + 1n
    }
    return { plants, more: false }
  }

  #rows(tag: string | undefined, from: bigint, limit: number): PlantRow[] {
    const { page, pageOfTag } = this.#statements
    return this.#reading(() =>
      tag === undefined ? page.all(from, limit) : pageOfTag.all(tag, from, limit),
    )
  }

  findToken(selector: Uint8Array): StoredToken | undefined {
    const row = this.#reading(() => this.#statements.token.get(selector))
    return row && tokenOf(row)
  }

  listTokens(): StoredToken[] {
    return this.#reading(() => this.#statements.tokens.all()).map(tokenOf)
  }

  close(): void {
    this.refresh()
    this.#db.close()
  }

  #reading<Result>(read: () => Result): Result {
    try {
      if (!this.#inTurn) this.#beginTurn()
      return read()
    } catch (error) {
      throw storeError(error)
    }
  }

  #beginTurn(): void {
    this.#statements.begin.run()
    this.#inTurn = true
    setImmediate(this.#endTurn)
  }
}

/**
 * All plants, as they are at the moment of the first read.
 *
 * @param open makes a connection for this alone; it is closed at the end
 * @throws StoreUnavailable if they cannot be read, or not to the end
 */
export async function* exportPlants(open: () => Database): AsyncGenerator<StoredPlant[], void> {
  let db: Database | undefined
  try {
    db = open()
    const rows = db.prepare<[], PlantRow>('SELECT * FROM plants ORDER BY id').iterate()
    yield* batches(rows)
  } catch (error) {
    throw storeError(error)
  } finally {
    db?.close()
  }
}

/** Plants by id, as many together as their number and their text allow. */
function* batches(rows: Iterable<PlantRow>): Generator<StoredPlant[], void> {
  let batch: StoredPlant[] = []
  let text = 0
  for (const row of rows) {
    batch.push(plantOf(row))
    text += lengthOf(row)
    if (batch.length < EXPORT_BATCH_SIZE && text < MAX_TEXT) continue
    yield batch
    batch = []
    text = 0
  }
  if (batch.length > 0) yield batch
}

/** In UTF-16 units. */
function lengthOf({ name, tag }: PlantRow): number {
  return name.length + (tag?.length ?? 0)
}

function prepareReads(db: Database) {
  return {
    begin: db.prepare('BEGIN'),
    rollback: db.prepare('ROLLBACK'),
    anyPlant: db.prepare('SELECT 1 FROM plants LIMIT 1'),
    plant: db.prepare<bigint, PlantRow>('SELECT * FROM plants WHERE id = ?'),
    page: db.prepare<[bigint, number], PlantRow>(
      'SELECT * FROM plants WHERE id >= ? ORDER BY id LIMIT ?',
    ),
    pageOfTag: db.prepare<[string, bigint, number], PlantRow>(
      'SELECT * FROM plants WHERE tag = ? AND id >= ? ORDER BY id LIMIT ?',
    ),
    token: db.prepare<Uint8Array, TokenRow>('SELECT * FROM tokens WHERE selector = ?'),
    tokens: db.prepare<[], TokenRow>('SELECT * FROM tokens ORDER BY name'),
  }
}

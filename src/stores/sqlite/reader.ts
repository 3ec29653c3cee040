import type { Database } from 'better-sqlite3'
import type { Page, PageRequest, StoredPlant } from '../../../service/plant-store.ts'
import { type StoredToken, scopes } from '../../../service/token-store.ts'
import { MAX_INT64, MIN_INT64 } from '../../contract/decimal.ts'
import { storeError } from './errors.ts'
import { type PlantRow, plantOf } from './plant-row.ts'

/** How much text plants that are read together may have, in UTF-16 units, beside that of the last one. */
const MAX_TEXT = 2 ** 23

/** More of them at a time gain nothing. */
const EXPORTED_TOGETHER = 1000

interface TokenRow {
  digest: Buffer
  name: string
  scopes: string
  created_at: bigint
  expires_at: bigint | null
  last_used_at: bigint | null
}

/** Reads; every method throws StoreUnavailable when that cannot be done now. */
export class Reader {
  readonly #db: Database
  readonly #statements: ReturnType<typeof prepareReads>

  constructor(db: Database) {
    this.#db = db
    this.#statements = prepareReads(db)
  }

  check(): void {
    reading(() => this.#statements.anyPlant.get())
  }

  get(id: bigint): StoredPlant | undefined {
    const row = reading(() => this.#statements.plant.get(id))
    return row && plantOf(row)
  }

  list({ after, tag, limit }: PageRequest): Page {
    const from = after === undefined ? MIN_INT64 : after + 1n
    if (from > MAX_INT64) return { plants: [], more: false }
    return reading(() => {
      const { page, pageOfTag } = this.#statements
      const rows =
        tag === undefined ? page.iterate(from, limit + 1) : pageOfTag.iterate(tag, from, limit + 1)
      const pages = batches(rows, limit)
      const plants = pages.next().value ?? []
      const more = rows.next().done === false
      // Or the connection would stay busy with what is behind the page.
      pages.return()
      return { plants, more }
    })
  }

  findToken(selector: Uint8Array): StoredToken | undefined {
    const row = reading(() => this.#statements.token.get(selector))
    return row && tokenOf(row)
  }

  listTokens(): StoredToken[] {
    return reading(() => this.#statements.tokens.all()).map(tokenOf)
  }

  close(): void {
    this.#db.close()
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
    yield* batches(rows, EXPORTED_TOGETHER)
  } catch (error) {
    throw storeError(error)
  } finally {
    db?.close()
  }
}

/** Plants by id, as many together as their number and their text allow. */
function* batches(rows: Iterable<PlantRow>, most: number): Generator<StoredPlant[], void> {
  let batch: StoredPlant[] = []
  let text = 0
  for (const row of rows) {
    batch.push(plantOf(row))
    text += row.name.length + (row.tag?.length ?? 0)
    if (batch.length < most && text < MAX_TEXT) continue
    yield batch
    batch = []
    text = 0
  }
  if (batch.length > 0) yield batch
}

function reading<Result>(read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    throw storeError(error)
  }
}

function prepareReads(db: Database) {
  return {
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

function tokenOf(row: TokenRow): StoredToken {
  return {
    name: row.name,
    digest: row.digest,
    scopes: scopes.filter((scope) => row.scopes.split(',').includes(scope)),
    createdAt: new Date(Number(row.created_at)),
    ...(row.expires_at !== null && { expiresAt: new Date(Number(row.expires_at)) }),
    ...(row.last_used_at !== null && { lastUsedAt: new Date(Number(row.last_used_at)) }),
  }
}

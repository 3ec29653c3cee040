import type { Database } from 'better-sqlite3'
import type { CreateResult, NewPlant, PlantStore } from '../../../service/plant-store.ts'
import { type StoredToken, scopes, type TokenStore } from '../../../service/token-store.ts'
import type { DatabaseOptions } from './database.ts'
import { IN_MEMORY, openDatabase } from './database.ts'
import { storeError } from './errors.ts'
import { GroupCommit } from './group-commit.ts'
import { ThreadedWriter } from './threaded-writer.ts'
import type { Change, Changes } from './writer.ts'
import { Writer } from './writer.ts'

interface TokenRow {
  digest: Buffer
  name: string
  scopes: string
  created_at: bigint
  expires_at: bigint | null
  last_used_at: bigint | null
}

/**
 * Plants and tokens in one SQLite file. Reads on the calling thread; all changes go through one
 * writer, which commits together what arrives together.
 */
export class SqliteStore implements PlantStore, TokenStore {
  readonly #writer: Writer | ThreadedWriter
  readonly #changes: GroupCommit
  readonly #reader: Database
  readonly #read: ReturnType<typeof prepareReads>
  #closed: Promise<void> | undefined

  /** @throws StoreError saying in a line why the database cannot be used */
  constructor(options: DatabaseOptions) {
    this.#reader = openDatabase(options)
    this.#read = prepareReads(this.#reader)
    if (options.file === IN_MEMORY) {
      this.#writer = new Writer(this.#reader)
    } else {
      this.#writer = new ThreadedWriter(options)
      this.#reader.pragma('query_only = ON')
      this.#reader.pragma('busy_timeout = 0')
    }
    const writer = this.#writer
    this.#changes = new GroupCommit(async (changes) => writer.commit(changes))
  }

  create(plant: NewPlant): Promise<CreateResult> {
    return this.#change('create', plant)
  }

  async check(): Promise<void> {
    reading(() => this.#read.anyPlant.get())
  }

  async findToken(selector: Uint8Array): Promise<StoredToken | undefined> {
    const row = reading(() => this.#read.token.get(selector))
    return row && tokenOf(row)
  }

  async listTokens(): Promise<StoredToken[]> {
    return reading(() => this.#read.tokens.all()).map(tokenOf)
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

  /** Waits for changes under way, then leaves a database without a log to recover. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    await this.#changes.settle()
    // The last connection to close tidies up, so it must be one that may write.
    this.#reader.close()
    await this.#writer.close()
  }

  #change<Name extends keyof Changes>(
    name: Name,
    ...using: Parameters<Changes[Name]>
  ): Promise<ReturnType<Changes[Name]>> {
    const result = this.#changes.change([name, ...using] as unknown as Change)
    return result as Promise<ReturnType<Changes[Name]>>
  }
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

import type {
  CreateResult,
  ImportResult,
  NewPlant,
  NoMatch,
  OnConflict,
  Page,
  PageRequest,
  PlantPatch,
  PlantStore,
  StoredPlant,
} from '../../../service/plant-store.ts'
import type { StoredToken, TokenStore } from '../../../service/token-store.ts'
import { GroupCommit } from '../group-commit.ts'
import { StoreError } from '../store-error.ts'
import { removePlant, updatePlant } from './changes.ts'
import { parseConnectionString } from './connection-string.ts'
import { Connections } from './connections.ts'
import { createPlants } from './creates.ts'
import { requireDurable } from './durability.ts'
import { importPlants } from './imports.ts'
import { exportPlants, listPlants, PointReads } from './reads.ts'
import { migrate, versionOf } from './schema.ts'
import { Tokens } from './tokens.ts'
import { Turns } from './turns.ts'

export interface ServerOptions {
  /** A connection string of libpq's form, with one host or several. */
  readonly url: string
  /** How long it may take to connect, and how long a statement may take, in milliseconds. */
  readonly timeout: number
  /** Refuse an empty database, rather than make the schema. */
  readonly mustExist?: boolean
}

/**
 * Plants and tokens on a PostgreSQL server, or one that speaks its protocol, which any number of processes
 * share. Creates that arrive together go as one statement.
 */
export class PostgresStore implements PlantStore, TokenStore {
  readonly #connections: Connections
  readonly #creates: GroupCommit<NewPlant, CreateResult>
  readonly #pointReads: PointReads
  readonly #tokens: Tokens
  readonly #turns = new Turns()
  #closed: Promise<void> | undefined

  private constructor(connections: Connections) {
    this.#connections = connections
    this.#creates = new GroupCommit({
      commit: (plants: readonly NewPlant[]) => createPlants(connections, plants),
      sizeOf,
      // One behind the other, so that they end in their order.
      maxInFlight: 1,
    })
    this.#pointReads = new PointReads(connections)
    this.#tokens = new Tokens(connections)
  }

  /**
   * Connects, and brings the schema up to date.
   *
   * @throws StoreError saying in a line why the database cannot be used
   */
  static async open({ url, timeout, mustExist = false }: ServerOptions): Promise<PostgresStore> {
    const { urls, shown } = parseConnectionString(url)
    const connections = new Connections({ urls, timeout })
    try {
      await requireDurable(connections)
      if (mustExist && (await versionOf(connections)) === 0) throw new StoreError('it is empty')
      await migrate(connections)
      return new PostgresStore(connections)
    } catch (cause) {
      await connections.close()
      const { message } = cause as Error
      throw new StoreError(`cannot use the database ${shown}: ${message}`, { cause })
    }
  }

  create(plant: NewPlant): Promise<CreateResult> {
    return this.#turns.create(plant.id, () => this.#creates.change(plant))
  }

  get(id: bigint): Promise<StoredPlant | undefined> {
    return this.#pointReads.find(id)
  }

  list(request: PageRequest): Promise<Page> {
    return listPlants((text, values) => this.#connections.query(text, values), request)
  }

  update(
    id: bigint,
    patch: PlantPatch,
    expected?: readonly string[],
  ): Promise<StoredPlant | NoMatch> {
    return this.#turns.change([id], () => updatePlant(this.#connections, id, patch, expected))
  }

  remove(id: bigint, expected?: readonly string[]): Promise<'removed' | NoMatch> {
    return this.#turns.change([id], () => removePlant(this.#connections, id, expected))
  }

  importPlants(plants: readonly NewPlant[], onConflict: OnConflict): Promise<ImportResult[]> {
    const ids = plants.map(({ id }) => id)
    return this.#turns.change(ids, () => importPlants(this.#connections, plants, onConflict))
  }

  exportPlants(): AsyncIterable<readonly StoredPlant[]> {
    return this.#connections.snapshot(exportPlants)
  }

  async ping(): Promise<void> {
    await this.#connections.query('SELECT id FROM plants LIMIT 1')
  }

  findToken(selector: Uint8Array): Promise<StoredToken | undefined> {
    return this.#tokens.find(selector)
  }

  listTokens(): Promise<StoredToken[]> {
    return this.#tokens.list()
  }

  addToken(token: StoredToken): Promise<boolean> {
    return this.#tokens.add(token)
  }

  addFirstToken(token: StoredToken): Promise<boolean> {
    return this.#tokens.addFirst(token)
  }

  removeToken(name: string): Promise<boolean> {
    return this.#tokens.remove(name)
  }

  noteTokenUse(name: string, at: Date): Promise<void> {
    return this.#tokens.noteUse(name, at)
  }

  /** Waits for changes under way, then closes the connections. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    await this.#turns.settle()
    await this.#connections.close()
  }
}

/** In UTF-16 units. */
function sizeOf({ name, tag = '' }: NewPlant): number {
  return name.length + tag.length
}

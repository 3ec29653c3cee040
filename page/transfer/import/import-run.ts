import {
  BatchError,
  type BatchResult,
  type NewPlant,
  type PlantStoreClient,
  PlantStoreError,
  type StoredPlant,
} from '../../../client/client.ts'
import { limits } from '../../../contract/limits.gen.ts'
import type { FileRecord } from '../../../formats/records.ts'
import { hasSameContent, textLength } from '../../model/members.ts'
import type { ToPlant } from '../file/columns.ts'
import { FileProblem } from '../file/file-kind.ts'

/** How many plants an import has stored so far. */
export interface Counts {
  readonly created: number
  /** Already stored with the same content, or repeated in the file. */
  readonly unchanged: number
}

/** A record that is not imported. */
export interface Refusal {
  readonly record: FileRecord
  /** Without a final period. */
  readonly reason: string
  /** The stored plant that has the id. */
  readonly other?: NewPlant
}

/** What an import needs of the client. */
export type ImportClient = Pick<PlantStoreClient, 'createPlants' | 'plants'>

export interface ImportOptions {
  readonly client: ImportClient
  /** Whether the token permits reading the plants that are in conflict. */
  readonly canRead: boolean
  readonly toPlant: ToPlant
  readonly signal: AbortSignal
  readonly onRefused: (refusal: Refusal) => void
  /** Called after each batch. */
  readonly onProgress: (counts: Counts) => void
  /** Called when the service cannot be used. The import continues when the promise resolves. */
  readonly onFailure: (error: unknown) => Promise<void>
}

/** The contract's limit on the number of plants in a request. */
const BATCH_PLANTS = limits.createPlants.body.maxItems

/** Large plants fill a batch sooner, so that few of them are in memory. */
const BATCH_LENGTH = 2 ** 20

/** The contract's limit on the number of ids in a request. */
const IDS_MAX = limits.listPlants.id.maxItems

const TAKEN = 'A different plant has this id'

/** A valid record. */
interface Item {
  readonly record: FileRecord
  readonly plant: NewPlant
}

/**
 * Creates the plants of records, a batch at a time. If records have the same id, the first one wins. A plant that is
 * stored already stays as it is, so repeating an import is safe.
 *
 * @throws the reason of the signal
 * @throws FileProblem from `records`, once the records before it are imported
 */
export async function importRecords(
  records: AsyncIterable<FileRecord>,
  options: ImportOptions,
): Promise<void> {
  const run = new ImportRun(options)
  try {
    for await (const record of records) await run.add(record)
  } catch (error) {
    if (error instanceof FileProblem) await run.sendBatch()
    throw error
  }
  await run.sendBatch()
}

class ImportRun {
  readonly #options: ImportOptions
  #batch = new Map<bigint, Item>()
  #batchLength = 0
  readonly #counts = { created: 0, unchanged: 0 }

  constructor(options: ImportOptions) {
    this.#options = options
  }

  async add(record: FileRecord): Promise<void> {
    const { signal, toPlant } = this.#options
    signal.throwIfAborted()
    const plant = toPlant(record)
    if (typeof plant === 'string') return this.#options.onRefused({ record, reason: plant })
    const earlier = this.#batch.get(plant.id)?.plant
    if (earlier !== undefined && hasSameContent(earlier, plant)) {
      this.#counts.unchanged += 1
      return
    }
    // A batch with both would be refused. After the first one was sent, the second is compared with what is stored.
    if (earlier !== undefined) await this.sendBatch()
    this.#batch.set(plant.id, { record, plant })
    this.#batchLength += textLength(plant)
    if (this.#batch.size === BATCH_PLANTS || this.#batchLength >= BATCH_LENGTH) {
      await this.sendBatch()
    }
  }

  /** Sends what was added since the last batch. */
  async sendBatch(): Promise<void> {
    const { client, signal, onProgress } = this.#options
    const parts: (readonly Item[])[] = [[...this.#batch.values()]]
    this.#batch = new Map()
    this.#batchLength = 0
    for (let items = parts.shift(); items !== undefined; items = parts.shift()) {
      if (items.length === 0) continue
      signal.throwIfAborted()
      const plants = items.map(({ plant }) => plant)
      try {
        this.#addStored(await client.createPlants(plants, { signal }))
      } catch (error) {
        if (!(error instanceof BatchError)) throw error
        const { start, end, cause } = error
        this.#addStored(error)
        parts.unshift(
          ...(await this.#findAccepted(items.slice(start, end), cause)),
          items.slice(end),
        )
      }
    }
    onProgress({ ...this.#counts })
  }

  /** Refuses the plants that caused an error as far as they are known. Returns the others, to be sent in parts. */
  async #findAccepted(
    items: readonly Item[],
    error: unknown,
  ): Promise<readonly (readonly Item[])[]> {
    const { canRead, signal, onFailure } = this.#options
    try {
      if (!isRefusal(error)) throw error
      if (canRead && error.condition === 'plant-exists') return [await this.#refuseConflicts(items)]
      const [item] = items
      if (item === undefined || items.length > 1) {
        const middle = Math.ceil(items.length / 2)
        return [items.slice(0, middle), items.slice(middle)]
      }
      this.#options.onRefused({ record: item.record, reason: describeRefusal(error) })
      return []
    } catch (failure) {
      signal.throwIfAborted()
      await onFailure(failure)
      return [items]
    }
  }

  /** Refuses the plants that differ from stored ones, and returns the others. */
  async #refuseConflicts(items: readonly Item[]): Promise<readonly Item[]> {
    const { client, signal } = this.#options
    const stored = new Map<bigint, StoredPlant>()
    for (let start = 0; start < items.length; start += IDS_MAX) {
      const id = items.slice(start, start + IDS_MAX).map(({ plant }) => plant.id)
      for await (const plant of client.plants({ id }, { signal })) stored.set(plant.id, plant)
    }
    return items.filter(({ record, plant }) => {
      const other = stored.get(plant.id)
      const isAccepted = other === undefined || hasSameContent(other, plant)
      if (!isAccepted) this.#options.onRefused({ record, reason: TAKEN, other })
      return isAccepted
    })
  }

  #addStored({ created, replayed }: BatchResult): void {
    this.#counts.created += created
    this.#counts.unchanged += replayed
  }
}

/** Whether the plants are the reason, so that sending them again is useless. */
function isRefusal(error: unknown): error is PlantStoreError {
  return error instanceof PlantStoreError && [400, 409, 413].includes(error.status)
}

function describeRefusal({ condition, message }: PlantStoreError): string {
  return condition === 'plant-exists' ? TAKEN : `The service refuses the plant: ${message}`
}

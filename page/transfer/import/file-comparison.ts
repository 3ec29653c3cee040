import type { NewPlant, PlantStoreClient, StoredPlant } from '../../../client/client.ts'
import type { FileRecord } from '../../../core/files/file-record.ts'
import type { Counted } from '../../../core/files/formats.ts'
import type { ToPlant } from '../../../page/transfer/file/plant-mapper.ts'
import { findPlants, IDS_MAX, REQUESTS_MAX } from '../../changes/find-plants.ts'
import { hasSameContent } from '../../model/current-members.ts'
import { MEMORY_MAX, memoryOf } from '../../model/memory.ts'

/** What an import would do with a record. */
export type Fate = 'new' | 'different' | 'same' | 'refused'

/** A record, and what an import would do with it. */
export interface Example {
  readonly record: FileRecord
  /** Why the record is refused, without a final period. */
  readonly reason?: string
  /** The stored plant that has the id. */
  readonly stored?: StoredPlant
}

/** The records that share a fate. */
export interface Group {
  readonly count: number
  /** The first one in the file. */
  readonly first?: Example
}

/** A file compared with the store. */
export interface Comparison {
  readonly groups: { readonly [Each in Fate]: Group }
  /**
   * The stored plants that differ from those of the file, by their ids. An import replaces a plant only while it is as
   * it is here. Undefined if they would take too much memory.
   */
  readonly different: ReadonlyMap<bigint, StoredPlant> | undefined
  /** The numbers of the records that are stored, or repeat earlier ones. An import leaves these out. */
  readonly same: ReadonlySet<number>
}

export interface ComparisonOptions {
  readonly client: Pick<PlantStoreClient, 'plants'>
  /** Whether the token permits it. Otherwise, every valid record counts as new. */
  readonly canRead: boolean
  readonly toPlant: ToPlant
  /** What the number of a record counts. */
  readonly counted: Counted
  readonly signal: AbortSignal
  /** Limits the memory for the stored plants that differ, and for those of the file, in characters each. */
  readonly memoryMax?: number
}

/** A valid record. */
interface Item {
  readonly record: FileRecord
  readonly plant: NewPlant
}

/**
 * Compares records with the store, which stays as it is.
 *
 * @throws the reason of the signal, and what `records` and `PlantStoreClient.plants` throw
 */
export async function compareRecords(
  records: AsyncIterable<FileRecord>,
  options: ComparisonOptions,
): Promise<Comparison> {
  const run = new ComparisonRun(options)
  for await (const record of records) await run.add(record)
  return run.end()
}

class ComparisonRun {
  readonly #options: ComparisonOptions
  readonly #groups: { [Each in Fate]: { count: number; first?: Example } } = {
    new: { count: 0 },
    different: { count: 0 },
    same: { count: 0 },
    refused: { count: 0 },
  }
  readonly #different = new Map<bigint, StoredPlant>()
  #memory = 0
  readonly #same = new Set<number>()
  /** The first record with each id. */
  readonly #firsts = new Map<bigint, { readonly number: number; readonly plant: NewPlant }>()
  #firstsMemory = 0
  #batch: Item[] = []
  /** In the order of the file. */
  readonly #requests: Promise<void>[] = []

  constructor(options: ComparisonOptions) {
    this.#options = options
  }

  async add(record: FileRecord): Promise<void> {
    const { canRead, toPlant, counted, signal, memoryMax = MEMORY_MAX } = this.#options
    signal.throwIfAborted()
    const plant = toPlant(record)
    if (typeof plant === 'string') return this.#count('refused', { record, reason: plant })
    const first = this.#firsts.get(plant.id)
    if (first !== undefined) {
      if (hasSameContent(plant, first.plant)) {
        this.#same.add(record.number)
        return this.#count('same', { record })
      }
      const reason = `The id is also in ${counted} ${first.number}, with other content`
      return this.#count('refused', { record, reason })
    }
    if (this.#firstsMemory < memoryMax) {
      this.#firsts.set(plant.id, { number: record.number, plant })
      this.#firstsMemory += memoryOf(plant)
    }
    if (!canRead) return this.#count('new', { record })
    this.#batch.push({ record, plant })
    if (this.#batch.length === IDS_MAX) this.#startRequest()
    if (this.#requests.length === REQUESTS_MAX) await this.#requests.shift()
  }

  async end(): Promise<Comparison> {
    const { memoryMax = MEMORY_MAX } = this.#options
    if (this.#batch.length > 0) this.#startRequest()
    await Promise.all(this.#requests)
    const isComplete = this.#memory <= memoryMax
    return {
      groups: this.#groups,
      different: isComplete ? this.#different : undefined,
      same: this.#same,
    }
  }

  #startRequest(): void {
    const request = this.#compare(this.#batch)
    this.#batch = []
    // It can fail before it is awaited.
    request.catch(() => {})
    this.#requests.push(request)
  }

  async #compare(items: readonly Item[]): Promise<void> {
    const { client, signal, memoryMax = MEMORY_MAX } = this.#options
    const ids = items.map(({ plant }) => plant.id)
    const stored = await findPlants(client, ids, signal)
    for (const { record, plant } of items) {
      const other = stored.get(plant.id)
      if (other === undefined) this.#count('new', { record })
      else if (hasSameContent(other, plant)) {
        this.#same.add(record.number)
        this.#count('same', { record })
      } else {
        this.#count('different', { record, stored: other })
        this.#memory += memoryOf(other)
        if (this.#memory <= memoryMax) this.#different.set(plant.id, other)
        else this.#different.clear()
      }
    }
  }

  #count(fate: Fate, example: Example): void {
    const group = this.#groups[fate]
    group.count += 1
    // Requests end in any order.
    if (group.first === undefined || example.record.number < group.first.record.number) {
      group.first = example
    }
  }
}

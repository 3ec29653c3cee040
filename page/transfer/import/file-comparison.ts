import type { NewPlant, PlantStoreClient, StoredPlant } from '../../../client/client.ts'
import type { FileRecord } from '../../../core/files/file-record.ts'
import type { Counted } from '../../../core/files/formats.ts'
import { ownValue } from '../../../core/members/members.ts'
import { findPlants, IDS_MAX, REQUESTS_MAX } from '../../changes/find-plants.ts'
import { contentMembers, hasSameContent, members } from '../../model/current-members.ts'
import { MEMORY_MAX, memoryOf, OVERHEAD } from '../../model/memory.ts'
import { plantOf, type ReadRow, type Row } from '../file/plant-mapper.ts'

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
  /** In the order of the file: the first one that is new or the same, and all others, or as many as there is memory for. */
  readonly examples: readonly Example[]
}

/** What an import would do with a file. */
export interface Outcome {
  readonly groups: { readonly [Each in Fate]: Group }
  /** How many values plants would lose. */
  readonly removed: number
  /** The numbers of the records that are stored, or repeat earlier ones. An import leaves these out. */
  readonly same: ReadonlySet<number>
}

/** A file compared with the store. */
export interface Comparison {
  /** What becomes of it if each record is a plant. */
  readonly whole: Outcome
  /** What becomes of it if records update stored plants. */
  readonly update: Outcome
  /**
   * The stored plants that an import would change, by their ids. It changes a plant only while it is as it is here.
   * Undefined if they would take too much memory.
   */
  readonly different: ReadonlyMap<bigint, StoredPlant> | undefined
}

export interface ComparisonOptions {
  readonly client: Pick<PlantStoreClient, 'plants'>
  /** Whether the token permits it. Otherwise, every valid record counts as new. */
  readonly canRead: boolean
  readonly read: ReadRow
  /** What the number of a record counts. */
  readonly counted: Counted
  /** Stored plants that need not be read again. */
  readonly known?: ReadonlyMap<bigint, StoredPlant> | undefined
  readonly signal: AbortSignal
  /** Limits the memory for the stored plants that differ, for the rows of the file and for examples, in characters each. */
  readonly memoryMax?: number
}

/** A record that has an id. */
interface Item {
  readonly record: FileRecord
  readonly row: Row
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
  readonly #memoryMax: number
  readonly #whole: Tally
  readonly #update: Tally
  readonly #different = new Map<bigint, StoredPlant>()
  #memory = 0
  /** The first record with each id. */
  readonly #firsts = new Map<bigint, { readonly number: number; readonly row: Row }>()
  #firstsMemory = 0
  #batch: Item[] = []
  /** In the order of the file. */
  readonly #requests: Promise<void>[] = []

  constructor(options: ComparisonOptions) {
    this.#options = options
    this.#memoryMax = options.memoryMax ?? MEMORY_MAX
    this.#whole = new Tally(this.#memoryMax)
    this.#update = new Tally(this.#memoryMax)
  }

  async add(record: FileRecord): Promise<void> {
    const { canRead, read, counted, signal } = this.#options
    signal.throwIfAborted()
    const row = read(record)
    if (typeof row === 'string') return this.#addToBoth('refused', { record, reason: row })
    const first = this.#firsts.get(row.id)
    if (first !== undefined) {
      if (hasSameValues(row, first.row)) return this.#addToBoth('same', { record })
      const reason = `The id is also in ${counted} ${first.number}, with other content`
      return this.#addToBoth('refused', { record, reason })
    }
    if (this.#firstsMemory < this.#memoryMax) {
      this.#firsts.set(row.id, { number: record.number, row })
      this.#firstsMemory += memoryOf(row.values)
    }
    if (!canRead) return this.#judge({ record, row }, undefined)
    this.#batch.push({ record, row })
    if (this.#batch.length === IDS_MAX) this.#startRequest()
    if (this.#requests.length === REQUESTS_MAX) await this.#requests.shift()
  }

  async end(): Promise<Comparison> {
    if (this.#batch.length > 0) this.#startRequest()
    await Promise.all(this.#requests)
    const isComplete = this.#memory <= this.#memoryMax
    return {
      whole: this.#whole.end(),
      update: this.#update.end(),
      different: isComplete ? this.#different : undefined,
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
    const { client, known, signal } = this.#options
    const ids = items.map(({ row }) => row.id).filter((id) => !known?.has(id))
    const found = await findPlants(client, ids, signal)
    for (const item of items) this.#judge(item, known?.get(item.row.id) ?? found.get(item.row.id))
  }

  #judge({ record, row }: Item, stored: StoredPlant | undefined): void {
    const plant = plantOf(row)
    const isReplaced = this.#whole.judge(record, plant, stored)
    // An update keeps nothing if the row has all members.
    const isWhole = stored === undefined || Object.keys(row.values).length === members.length
    const updated = isWhole ? plant : plantOf(row, stored)
    const isUpdated = this.#update.judge(record, updated, stored)
    if (stored === undefined || !(isReplaced || isUpdated)) return
    this.#memory += memoryOf(stored)
    if (this.#memory <= this.#memoryMax) this.#different.set(row.id, stored)
    else this.#different.clear()
  }

  #addToBoth(fate: Fate, example: Example): void {
    this.#whole.add(fate, example)
    this.#update.add(fate, example)
  }
}

/** Counts what an import would do. */
class Tally {
  readonly #groups: { readonly [Each in Fate]: { count: number; examples: Example[] } } = {
    new: { count: 0, examples: [] },
    different: { count: 0, examples: [] },
    same: { count: 0, examples: [] },
    refused: { count: 0, examples: [] },
  }
  #removed = 0
  readonly #same = new Set<number>()
  #memoryLeft: number

  /** @param memoryMax limits the memory for the examples, in characters */
  constructor(memoryMax: number) {
    this.#memoryLeft = memoryMax
  }

  /**
   * @param plant what the record would store, or why it is refused
   * @returns whether the stored plant would change
   */
  judge(record: FileRecord, plant: NewPlant | string, stored: StoredPlant | undefined): boolean {
    if (typeof plant === 'string') this.add('refused', { record, reason: plant })
    else if (stored === undefined) this.add('new', { record })
    else if (hasSameContent(stored, plant)) this.add('same', { record })
    else {
      this.add('different', { record, stored })
      for (const { name } of contentMembers) {
        const isLost = ownValue(plant, name) === undefined
        if (isLost && ownValue(stored, name) !== undefined) this.#removed += 1
      }
      return true
    }
    return false
  }

  add(fate: Fate, example: Example): void {
    const { record } = example
    const group = this.#groups[fate]
    group.count += 1
    if (fate === 'same') this.#same.add(record.number)
    const isListed = fate === 'different' || fate === 'refused'
    if (isListed && this.#memoryLeft > 0) {
      group.examples.push(example)
      this.#memoryLeft -= lengthOf(record)
    } else if (!isListed) {
      // Requests end in any order.
      const [first] = group.examples
      if (first === undefined || record.number < first.record.number) group.examples[0] = example
    }
  }

  end(): Outcome {
    for (const { examples } of Object.values(this.#groups)) {
      examples.sort((one, other) => one.record.number - other.record.number)
    }
    return { groups: this.#groups, removed: this.#removed, same: this.#same }
  }
}

/** What a record takes in memory, in characters. */
function lengthOf({ values }: FileRecord): number {
  let length = OVERHEAD
  for (const value of Object.values(values)) length += String(value).length
  return length
}

function hasSameValues({ values }: Row, { values: others }: Row): boolean {
  const { length } = Object.keys(values)
  if (length !== Object.keys(others).length) return false
  return Object.keys(values).every((name) => ownValue(values, name) === ownValue(others, name))
}

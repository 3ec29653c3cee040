import {
  BatchError,
  type BatchResult,
  type NewPlant,
  type PlantStoreClient,
  PlantStoreError,
  type StoredPlant,
  UnknownOutcomeError,
} from '../../../client/client.ts'
import { hasCondition } from '../../../client/errors.ts'
import { limits } from '../../../contract/limits.gen.ts'
import type { FileRecord } from '../../../formats/records.ts'
import { hasSameContent } from '../../model/members.ts'
import type { ToPlant } from '../file/columns.ts'
import { FileProblem } from '../file/file-kind.ts'
import { Batch } from './batch.ts'
import { findPlants, type Item } from './comparison.ts'
import { type SeenItem, type Sorted, sortReplacements, toChange } from './replacement.ts'

/** How many plants an import has stored so far. */
export interface Counts {
  readonly created: number
  readonly replaced: number
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

/**
 * What happens to a record whose id has a different plant. `stop` ends the import there, `keep` refuses the record, and
 * `replace` replaces the plant if the person has seen it.
 */
export type ConflictChoice =
  | { readonly is: 'stop' | 'keep' }
  /** `seen` has the plants that the person has seen, by their ids. */
  | { readonly is: 'replace'; readonly seen: ReadonlyMap<bigint, StoredPlant> }

/** What an import needs of the client. */
export type ImportClient = Pick<
  PlantStoreClient,
  'createPlants' | 'plants' | 'getPlant' | 'changePlants'
>

export interface ImportOptions {
  readonly client: ImportClient
  /** Whether the token permits reading the plants that are in conflict. */
  readonly canRead: boolean
  readonly toPlant: ToPlant
  readonly onConflict: ConflictChoice
  readonly signal: AbortSignal
  readonly onRefused: (refusal: Refusal) => void
  /** Called after each batch. */
  readonly onProgress: (counts: Counts) => void
  /** Called when the service cannot be used. The import continues when the promise resolves. */
  readonly onFailure: (error: unknown) => Promise<void>
}

/** The contract's limit on the number of plants in a request. */
const BATCH_PLANTS = limits.createPlants.body.maxItems

/** Few enough for a list of changes that is shorter than the service's default limit of 1 MiB. */
const REPLACEMENTS_MAX = 200

const TAKEN = 'A different plant has this id'

const CHANGED = 'Somebody has changed this plant since the file was compared'

const DELETED = 'Somebody has deleted this plant since the file was compared'

const STOPPED = 'A row has the id of a different plant.'

/** Records that are still to be sent, in lists. */
type Parts<Each extends Item> = readonly (readonly Each[])[]

/**
 * Stores the plants of records, a batch at a time. If records have the same id, the first one wins. A plant is
 * replaced only while it is as the person has seen it. Repeating an import is safe.
 *
 * @throws the reason of the signal
 * @throws FileProblem from `records`, once the records before it are imported, or at a record that ends the import
 */
export async function importRecords(
  records: AsyncIterable<FileRecord>,
  options: ImportOptions,
): Promise<void> {
  const run = new ImportRun(options)
  try {
    for await (const record of records) await run.add(record)
  } catch (error) {
    if (error instanceof FileProblem) await run.send()
    throw error
  }
  await run.send()
}

class ImportRun {
  readonly #options: ImportOptions
  readonly #created = new Batch<Item>(BATCH_PLANTS)
  readonly #replaced = new Batch<SeenItem>(REPLACEMENTS_MAX)
  /** Plants that the person has seen and permits to replace. */
  readonly #seen: Map<bigint, StoredPlant>
  readonly #counts = { created: 0, replaced: 0, unchanged: 0 }
  #hasStopped = false

  constructor(options: ImportOptions) {
    this.#options = options
    this.#seen = new Map(options.onConflict.is === 'replace' ? options.onConflict.seen : [])
  }

  async add(record: FileRecord): Promise<void> {
    const { signal, toPlant } = this.#options
    signal.throwIfAborted()
    const plant = toPlant(record)
    if (typeof plant === 'string') return this.#options.onRefused({ record, reason: plant })
    const { id } = plant
    const earlier = (this.#created.items.get(id) ?? this.#replaced.items.get(id))?.plant
    if (earlier !== undefined && hasSameContent(earlier, plant)) {
      this.#counts.unchanged += 1
      return
    }
    // A batch with both would be refused. After the first one was sent, the second is compared with what is stored.
    if (earlier !== undefined) await this.send()
    const seen = this.#seen.get(id)
    this.#seen.delete(id)
    if (seen === undefined) this.#created.add({ record, plant })
    else this.#replaced.add({ record, plant, seen })
    if (!this.#created.isFull && !this.#replaced.isFull) return
    await (this.#created.isFull ? this.#sendCreated() : this.#sendReplaced())
    this.#options.onProgress({ ...this.#counts })
  }

  /** Sends what was added since the last batches. */
  async send(): Promise<void> {
    await this.#sendCreated()
    await this.#sendReplaced()
    this.#options.onProgress({ ...this.#counts })
  }

  #sendCreated(): Promise<void> {
    return this.#sendParts(this.#created.take(), (items) => this.#create(items))
  }

  #sendReplaced(): Promise<void> {
    return this.#sendParts(this.#replaced.take(), (items) => this.#replace(items))
  }

  async #sendParts<Each extends Item>(
    items: readonly Each[],
    attempt: (items: readonly Each[]) => Promise<Parts<Each>>,
  ): Promise<void> {
    const parts: (readonly Each[])[] = [items]
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      if (part.length === 0) continue
      this.#options.signal.throwIfAborted()
      parts.unshift(...(await attempt(part)))
      if (!this.#hasStopped) continue
      this.#options.onProgress({ ...this.#counts })
      throw new FileProblem(STOPPED)
    }
  }

  async #create(items: readonly Item[]): Promise<Parts<Item>> {
    const { client, canRead, onConflict, signal } = this.#options
    const plants = items.map(({ plant }) => plant)
    try {
      this.#addStored(await client.createPlants(plants, { signal }))
      return []
    } catch (error) {
      if (!(error instanceof BatchError)) throw error
      const { start, end, cause } = error
      this.#addStored(error)
      const failed = items.slice(start, end)
      const areCompared = hasCondition(cause, 'plant-exists') && canRead && onConflict.is !== 'stop'
      const parts = await (areCompared
        ? this.#refuseConflicts(failed)
        : this.#findAccepted(failed, cause))
      return [...parts, items.slice(end)]
    }
  }

  /** Refuses the plants that differ from stored ones, and returns the others. */
  async #refuseConflicts(items: readonly Item[]): Promise<Parts<Item>> {
    const { client, signal, onRefused } = this.#options
    try {
      const stored = await findPlants(client, items, signal)
      const accepted = items.filter(({ record, plant }) => {
        const other = stored.get(plant.id)
        const isAccepted = other === undefined || hasSameContent(other, plant)
        if (!isAccepted) onRefused({ record, reason: TAKEN, other })
        return isAccepted
      })
      return [accepted]
    } catch (error) {
      return this.#pause(items, error)
    }
  }

  async #replace(items: readonly SeenItem[]): Promise<Parts<SeenItem>> {
    const { client, signal, onRefused } = this.#options
    let sorted: Sorted
    try {
      sorted = await sortReplacements(client, items, signal)
    } catch (error) {
      return this.#pause(items, error)
    }
    const { ready, done, changed } = sorted
    for (const { isSent } of done) this.#counts[isSent ? 'replaced' : 'unchanged'] += 1
    for (const { record, other } of changed) {
      onRefused(other ? { record, reason: CHANGED, other } : { record, reason: DELETED })
    }
    try {
      await client.changePlants(ready.map(toChange), { signal })
      this.#counts.replaced += ready.length
      return []
    } catch (error) {
      // Others have changed a plant since it was fetched.
      if (isOutdated(error)) return [ready]
      return this.#findAccepted(
        ready.map((item) => ({ ...item, isSent: true })),
        error,
      )
    }
  }

  /** Refuses the plant that caused an error if it is the only one. Returns the others, to be sent in parts. */
  async #findAccepted<Each extends Item>(
    items: readonly Each[],
    error: unknown,
  ): Promise<Parts<Each>> {
    const { onConflict, onRefused } = this.#options
    if (error instanceof UnknownOutcomeError) return [items]
    if (!isRefusal(error)) return this.#pause(items, error)
    const [item] = items
    if (item === undefined || items.length > 1) {
      const middle = Math.ceil(items.length / 2)
      return [items.slice(0, middle), items.slice(middle)]
    }
    onRefused({ record: item.record, reason: describeRefusal(error) })
    this.#hasStopped = onConflict.is === 'stop' && error.condition === 'plant-exists'
    return []
  }

  /** Waits for the person, and returns what is then sent again. */
  async #pause<Each extends Item>(items: readonly Each[], error: unknown): Promise<Parts<Each>> {
    const { signal, onFailure } = this.#options
    signal.throwIfAborted()
    await onFailure(error)
    return [items]
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

/** Whether a plant no longer is as it was when it was fetched. */
function isOutdated(error: unknown): boolean {
  return hasCondition(error, 'plant-changed') || hasCondition(error, 'plant-not-found')
}

function describeRefusal({ condition, message }: PlantStoreError): string {
  return condition === 'plant-exists' ? TAKEN : `The service refuses the plant: ${message}`
}

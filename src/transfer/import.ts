import { type RecordValues, toNewPlant } from '../../core/files/record-mapper.ts'
import { known } from '../../core/known.ts'
import type { Member } from '../../core/members/members.ts'
import { toFailure } from '../../service/failure-messages.ts'
import { PlantCodec } from '../../service/plant-codec.ts'
import type { NewPlant } from '../../service/store/plant-store.ts'
import {
  type ConflictAction,
  createPlants,
  type ImportStore,
  importPlants,
  type OnError,
  type Outcome,
  type PlannedRecord,
  type StoredResult,
  updatePlants,
} from './import-changes.ts'
import type { PlantFinder } from './plant-finder.ts'
import type { ParsedRecord, RecordBatch } from './record.ts'
import { givenIds, REMEMBERED_IDS, type RecordIds } from './record-ids.ts'

/**
 * Number of records per result. `blank` counts records without any value, and `removed` the values that updates have
 * removed.
 */
export type Counts = Record<StoredResult | 'refused' | 'blank' | 'removed', number>

export function newCounts(): Counts {
  return {
    created: 0,
    replayed: 0,
    replaced: 0,
    updated: 0,
    kept: 0,
    refused: 0,
    blank: 0,
    removed: 0,
  }
}

export interface RecordImportOptions {
  readonly store: ImportStore
  /** Those of a plant. */
  readonly members: readonly Member[]
  /** By default, records have ids. */
  readonly ids?: RecordIds
  /** `update` needs it. */
  readonly find?: PlantFinder
  readonly onConflict: ConflictAction
  readonly onError: OnError
  /** Incremented after every transaction, so it is accurate even if a later one fails. */
  readonly counts: Counts
  /** Says where a record is, given its number, such as `line 3`. */
  readonly locate: (number: number) => string
  /** Called for the first record with each result, with its plant. */
  readonly onFirst?: (result: StoredResult, where: string, plant: NewPlant) => void
  /** Called for each refused record, in file order, with where it is and, if it is a conflict, its plant. */
  readonly onRefused: (where: string, reason: string, conflicting?: NewPlant) => void
  /** Called for each other record that has the id of an earlier one, as far as that is remembered. */
  readonly onRepeated?: (where: string, message: string) => void
  /** Called for each stored record that has members that are not stored, with their names. */
  readonly onIgnored?: (names: readonly string[]) => void
  /** Called after each transaction with the number of bytes imported so far. */
  readonly onProgress: (bytes: number) => void
}

/**
 * Number of records that fill a transaction. With random ids, each plant dirties about one page of the database; larger
 * transactions dirty fewer, but block other writers for longer.
 */
export const TRANSACTION_RECORDS = 16_000

/** Number of input bytes that fill a transaction, for large records. */
const TRANSACTION_BYTES = 2 ** 22

/**
 * Stores records in file order. If `batches` fails, stores the records before the failure first.
 *
 * @returns false if a refused record stopped the import: the records before it are stored, those after it are not
 * @throws StoreUnavailable, FileError if there is no id for a new plant, and the errors of `batches`
 */
export async function importRecords(
  batches: AsyncIterable<RecordBatch>,
  options: RecordImportOptions,
): Promise<boolean> {
  const target = new RecordImport(options)
  let pending: ParsedRecord[] = []
  let storedBytes = 0
  let failure: { readonly error: unknown } | undefined
  async function* readable() {
    try {
      yield* batches
    } catch (error) {
      failure = { error }
    }
  }
  for await (const { records, endByte } of readable()) {
    pending = pending.concat(records)
    if (pending.length < TRANSACTION_RECORDS && endByte - storedBytes < TRANSACTION_BYTES) continue
    if (!(await target.store(pending))) return false
    options.onProgress(endByte)
    storedBytes = endByte
    pending = []
  }
  const isComplete = await target.store(pending)
  // A refused record comes before the failure, and is already reported.
  if (isComplete && failure !== undefined) throw failure.error
  return isComplete
}

/** A record, the change that it needs unless it is blank or invalid, and what became of it. */
interface Entry {
  readonly record: ParsedRecord
  readonly plan?: PlannedRecord
  outcome?: Outcome | undefined
}

class RecordImport {
  readonly #options: RecordImportOptions
  readonly #ids: RecordIds
  readonly #codec: PlantCodec
  /** The number of the first record with each id that was not refused. */
  readonly #firstRecords = new Map<bigint, number>()

  constructor(options: RecordImportOptions) {
    this.#options = options
    this.#ids = options.ids ?? givenIds
    this.#codec = new PlantCodec(options.members)
  }

  /** Stores records together. Returns false if one of them stops the import. */
  async store(records: readonly ParsedRecord[]): Promise<boolean> {
    const entries = this.#toEntries(records)
    const stop = await this.#change(entries)
    for (const entry of stop === -1 ? entries : entries.slice(0, stop + 1)) this.#report(entry)
    return stop === -1
  }

  /** The records up to an invalid one that stops the import. */
  #toEntries(records: readonly ParsedRecord[]): Entry[] {
    const entries: Entry[] = []
    for (const record of records) {
      const { number, result } = record
      const plan = typeof result === 'object' ? this.#plan(result, number) : result
      if (typeof plan === 'object') entries.push({ record, plan })
      else if (plan === undefined) entries.push({ record, outcome: { result: 'blank' } })
      else entries.push({ record, outcome: { result: 'refused', reason: plan } })
      if (typeof plan === 'string' && this.#options.onError === 'stop') break
    }
    return entries
  }

  /** Says why a record is refused if it is invalid. */
  #plan(values: RecordValues, number: number): PlannedRecord | string {
    const { members, onConflict } = this.#options
    const target = this.#ids.find(values, number)
    if (typeof target === 'string') return target
    const complete = values.id === target.id ? values : { ...values, id: target.id }
    const plant = toNewPlant(members, complete)
    if (typeof plant === 'object') return { ...target, values, plant: this.#codec.toPlant(plant) }
    const canUpdate = onConflict === 'update' && !target.isNew && values.name === undefined
    return canUpdate ? { ...target, values, missing: plant } : plant
  }

  /** Changes the plants of records, up to one that stops the import. Resolves to its index, or to -1. */
  async #change(entries: readonly Entry[]): Promise<number> {
    const { store, onConflict, onError } = this.#options
    const stored = entries.filter(({ plan }) => plan?.isNew === false)
    const changed = await this.#changeStored(stored.map(({ plan }) => known(plan)))
    for (const [index, entry] of stored.entries()) entry.outcome = changed[index]
    const stop = entries.findIndex(
      ({ outcome }) =>
        (outcome?.result === 'conflict' && onConflict === 'stop') ||
        (outcome?.result === 'refused' && onError === 'stop'),
    )
    const isBefore = (index: number) => stop === -1 || index < stop
    const fresh = entries.filter(({ plan }, index) => plan?.isNew && isBefore(index))
    const plants = fresh.map(({ plan }) => known(plan?.plant))
    const created = await createPlants(store, plants, this.#ids)
    for (const [index, entry] of fresh.entries()) entry.outcome = created[index]
    return stop
  }

  /** Changes plants whose ids are not chosen. */
  async #changeStored(plans: readonly PlannedRecord[]): Promise<Outcome[]> {
    const { store, onConflict, onError, find } = this.#options
    if (onConflict === 'update') {
      return updatePlants(plans, { store, find: known(find), codec: this.#codec, onError })
    }
    const plants = plans.map(({ plant }) => known(plant))
    const results = await importPlants(store, plants, onConflict)
    return results.map((result, index) => ({ result, plant: known(plants[index]) }))
  }

  #report({ record, outcome }: Entry): void {
    const { counts, locate, onRefused } = this.#options
    const { number, ignored } = record
    const { result, plant, reason = '', removed = 0 } = known(outcome)
    const isFirst = result !== 'conflict' && counts[result] === 0
    counts[result === 'conflict' ? 'refused' : result] += 1
    if (result === 'refused') onRefused(locate(number), reason)
    if (plant === undefined || result === 'refused' || result === 'blank') return
    const { id } = plant
    const first = this.#firstRecords.get(id)
    const repetition = first === undefined ? '' : `repeats id ${id} of ${locate(first)}`
    if (result === 'conflict') {
      const conflict = repetition && `${repetition} with different content`
      onRefused(locate(number), conflict || toFailure(id, 'plant-exists').message, plant)
      return
    }
    if (first === undefined && this.#firstRecords.size < REMEMBERED_IDS) {
      this.#firstRecords.set(id, number)
    }
    if (isFirst) this.#options.onFirst?.(result, locate(number), plant)
    counts.removed += removed
    if (repetition) this.#options.onRepeated?.(locate(number), `${repetition} (${result})`)
    if (ignored !== undefined) this.#options.onIgnored?.(ignored)
  }
}

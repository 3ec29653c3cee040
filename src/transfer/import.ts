import { type RecordValues, toNewPlant } from '../../core/files/record-mapper.ts'
import { known } from '../../core/known.ts'
import type { Member } from '../../core/members/members.ts'
import { toFailure } from '../../service/failure-messages.ts'
import { PlantCodec } from '../../service/plant-codec.ts'
import type { NewPlant, StoredPlant } from '../../service/store/plant-store.ts'
import {
  type ChangeOptions,
  type ImportStore,
  type OnConflict,
  type Outcome,
  type PlannedRecord,
  type StoredResult,
  storeRecords,
} from './import-changes.ts'
import type { ParsedRecord, RecordBatch } from './record.ts'
import { givenIds, REMEMBERED_IDS, type RecordIds } from './record-ids.ts'

/** What to do about an invalid record. */
export const onErrors = ['stop', 'skip'] as const
export type OnError = (typeof onErrors)[number]

/** The plant of a record, and the one that was stored before. */
export interface RecordPlants {
  readonly plant: NewPlant
  readonly before: StoredPlant | undefined
}

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
  readonly onConflict: OnConflict
  /** Whether `stop` refuses a conflicting record and imports the rest: for a dry run, which reads the whole file. */
  readonly skipsConflicts?: boolean
  readonly onError: OnError
  /** Incremented after every transaction, so it is accurate even if a later one fails. */
  readonly counts: Counts
  /** Says where a record is, given its number, such as `line 3`. */
  readonly locate: (number: number) => string
  /** Called for the first record with each result, with its plants. */
  readonly onFirst?: (result: StoredResult, where: string, plants: RecordPlants) => void
  /** Called for each refused record, in file order, with where it is and, if it is a conflict, its plants. */
  readonly onRefused: (where: string, reason: string, conflict?: RecordPlants) => void
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

class RecordImport {
  readonly #options: RecordImportOptions
  readonly #changeOptions: ChangeOptions
  /** The number of the first record with each id that was not refused. */
  readonly #firstRecords = new Map<bigint, number>()

  constructor(options: RecordImportOptions) {
    const { store, ids = givenIds, members, onConflict, onError, skipsConflicts = false } = options
    this.#options = options
    this.#changeOptions = {
      store,
      ids,
      codec: new PlantCodec(members),
      onConflict,
      isStop: ({ result }) =>
        result === 'conflict' ? !skipsConflicts : result === 'refused' && onError === 'stop',
    }
  }

  /** Stores records together. Returns false if one of them stops the import. */
  async store(records: readonly ParsedRecord[]): Promise<boolean> {
    const plans = this.#toPlans(records)
    const outcomes = await storeRecords(plans.filter(isPlanned), this.#changeOptions)
    let next = 0
    for (const [index, plan] of plans.entries()) {
      const reached = isPlanned(plan) ? known(outcomes[next++]) : plan
      this.#report(known(records[index]), reached)
      if (this.#changeOptions.isStop(reached)) return false
    }
    return true
  }

  /** How to store the records up to an invalid one that stops the import or, if that is not needed, what became of them. */
  #toPlans(records: readonly ParsedRecord[]): (PlannedRecord | Outcome)[] {
    const plans: (PlannedRecord | Outcome)[] = []
    for (const { number, result } of records) {
      const plan = typeof result === 'object' ? this.#plan(result, number) : result
      if (typeof plan === 'object') plans.push(plan)
      else if (plan === undefined) plans.push({ result: 'blank' })
      else plans.push({ result: 'refused', reason: plan })
      if (typeof plan === 'string' && this.#options.onError === 'stop') break
    }
    return plans
  }

  /** Says why a record is refused if it is invalid. */
  #plan(values: RecordValues, number: number): PlannedRecord | string {
    const { members, onConflict } = this.#options
    const { ids, codec } = this.#changeOptions
    const target = ids.find(values, number)
    if (typeof target === 'string') return target
    const complete = values.id === target.id ? values : { ...values, id: target.id }
    const plant = toNewPlant(members, complete)
    if (typeof plant === 'object') {
      return { ...target, values, plant: { type: 'create', ...codec.toPlant(plant) } }
    }
    const canUpdate = onConflict === 'update' && !target.isNew && values.name === undefined
    return canUpdate ? { ...target, values, plant } : plant
  }

  #report(
    { number, ignored }: ParsedRecord,
    { result, reason = '', plant, before, removed = 0 }: Outcome,
  ): void {
    const { counts, locate, onFirst, onRefused, onRepeated, onIgnored } = this.#options
    const counted = result === 'conflict' ? 'refused' : result
    counts[counted] += 1
    if (result === 'refused') onRefused(locate(number), reason)
    if (plant === undefined || counted === 'blank') return
    const { id } = plant
    const first = this.#firstRecords.get(id)
    const repetition = first === undefined ? '' : `repeats id ${id} of ${locate(first)}`
    if (counted === 'refused') {
      const conflict = repetition && `${repetition} with different content`
      const message = conflict || toFailure(id, 'plant-exists').message
      onRefused(locate(number), message, { plant, before })
      return
    }
    if (first === undefined && this.#firstRecords.size < REMEMBERED_IDS) {
      this.#firstRecords.set(id, number)
    }
    if (counts[counted] === 1) onFirst?.(counted, locate(number), { plant, before })
    counts.removed += removed
    if (repetition) onRepeated?.(locate(number), `${repetition} (${result})`)
    if (ignored !== undefined) onIgnored?.(ignored)
  }
}

function isPlanned(plan: PlannedRecord | Outcome): plan is PlannedRecord {
  return 'id' in plan
}

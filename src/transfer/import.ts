import { type RecordValues, toNewPlant } from '../../core/files/record-mapper.ts'
import { known } from '../../core/known.ts'
import type { Member } from '../../core/members/members.ts'
import { toFailure } from '../../service/failure-messages.ts'
import { PlantCodec } from '../../service/plant-codec.ts'
import { textLength } from '../../service/store/plant-content.ts'
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
  /** Ends the import between the records of two reads. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Number of records that fill a transaction. With random ids, each plant dirties about one page of the database; larger
 * transactions dirty fewer, but block other writers for longer.
 */
export const TRANSACTION_RECORDS = 16_000

/**
 * Number of input bytes that fill a transaction, for large records. As much text of plants fills it too, because a
 * workbook is compressed.
 */
const TRANSACTION_BYTES = 2 ** 22

/**
 * Stores records in file order. If `batches` fails, stores the records before the failure first.
 *
 * @returns false if a refused record stopped the import: the records before it are stored, those after it are not
 * @throws StoreUnavailable, FileError if there is no id for a new plant, the reason of the signal, and the errors of
 *   `batches`
 */
export async function importRecords(
  batches: AsyncIterable<RecordBatch>,
  options: RecordImportOptions,
): Promise<boolean> {
  const target = new RecordImport(options)
  let storedBytes = 0
  let failure: { readonly error: unknown } | undefined
  async function* readable() {
    try {
      for await (const batch of batches) {
        // A workbook is in memory, so that no read fails.
        options.signal?.throwIfAborted()
        yield batch
      }
    } catch (error) {
      failure = { error }
    }
  }
  for await (const { records, endByte } of readable()) {
    for (const record of records) target.add(record)
    if (!target.isFull(endByte - storedBytes)) continue
    if (!(await target.store())) return false
    options.onProgress(endByte)
    storedBytes = endByte
  }
  const isComplete = await target.store()
  // A refused record comes before the failure, and is already reported.
  if (isComplete && failure !== undefined) throw failure.error
  return isComplete
}

/** A record that is not stored yet. */
interface PendingRecord extends Pick<ParsedRecord, 'number' | 'ignored'> {
  /** How to store it or, if that is not needed, what became of it. */
  readonly plan: PlannedRecord | Outcome
}

class RecordImport {
  readonly #options: RecordImportOptions
  readonly #changeOptions: ChangeOptions
  readonly #codec: PlantCodec
  /** The number of the first record with each id that was not refused. */
  readonly #firstRecords = new Map<bigint, number>()
  #pending: PendingRecord[] = []
  /** The length of their text, in UTF-16 units. */
  #text = 0
  /** Whether an invalid record stops the import. */
  #isStopped = false

  constructor(options: RecordImportOptions) {
    const { store, ids = givenIds, members, onConflict, onError, skipsConflicts = false } = options
    this.#options = options
    this.#codec = new PlantCodec(members)
    this.#changeOptions = {
      store,
      ids,
      onConflict,
      isStop: ({ result }) =>
        result === 'conflict' ? !skipsConflicts : result === 'refused' && onError === 'stop',
    }
  }

  /**
   * Whether to store the records before others are added.
   *
   * @param bytes how long they are in the file
   */
  isFull(bytes: number): boolean {
    const isLarge = Math.max(bytes, this.#text) >= TRANSACTION_BYTES
    return isLarge || this.#pending.length >= TRANSACTION_RECORDS || this.#isStopped
  }

  /** Adds a record to those that are stored next, unless an earlier one stops the import. */
  add({ number, result, ignored }: ParsedRecord): void {
    if (this.#isStopped) return
    const plan = this.#plan(result, number)
    this.#pending.push({ number, ignored, plan })
    if (isPlanned(plan)) this.#text += measurePlanned(plan)
    else this.#isStopped = this.#changeOptions.isStop(plan)
  }

  /** Stores the records together. Returns false if one of them stops the import. */
  async store(): Promise<boolean> {
    const pending = this.#pending
    this.#pending = []
    this.#text = 0
    const plans = pending.flatMap(({ plan }) => (isPlanned(plan) ? plan : []))
    const outcomes = await storeRecords(plans, this.#changeOptions)
    let next = 0
    for (const record of pending) {
      const reached = isPlanned(record.plan) ? known(outcomes[next++]) : record.plan
      this.#report(record, reached)
      if (this.#changeOptions.isStop(reached)) return false
    }
    return true
  }

  #plan(result: ParsedRecord['result'], number: number): PlannedRecord | Outcome {
    if (result === undefined) return { result: 'blank' }
    const plan = typeof result === 'string' ? result : this.#planValues(result, number)
    return typeof plan === 'string' ? { result: 'refused', reason: plan } : plan
  }

  /** Says why a record is refused if it is invalid. */
  #planValues(values: RecordValues, number: number): PlannedRecord | string {
    const { members, onConflict } = this.#options
    const { ids } = this.#changeOptions
    const codec = this.#codec
    const target = ids.find(values, number)
    if (typeof target === 'string') return target
    const complete = values.id === target.id ? values : { ...values, id: target.id }
    const given = toNewPlant(members, complete)
    const plant =
      typeof given === 'string' ? given : ({ type: 'create', ...codec.toPlant(given) } as const)
    if (onConflict === 'update') {
      const canUpdate = typeof plant === 'object' || (!target.isNew && values.name === undefined)
      const patch = codec.toPatch(values as Parameters<PlantCodec['toPatch']>[0])
      return canUpdate ? { ...target, plant, patch } : plant
    }
    return typeof plant === 'object' ? { ...target, plant } : plant
  }

  #report(
    { number, ignored }: PendingRecord,
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

function measurePlanned({ plant, patch = {} }: PlannedRecord): number {
  return (typeof plant === 'object' ? textLength(plant) : 0) + textLength(patch)
}

function isPlanned(plan: PlannedRecord | Outcome): plan is PlannedRecord {
  return 'id' in plan
}

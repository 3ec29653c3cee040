import { known } from '../../core/known.ts'
import { toFailure } from '../../service/failure-messages.ts'
import type {
  ChangeResult,
  ListResult,
  NewPlant,
  PlantChange,
} from '../../service/store/plant-store.ts'
import type { ApplyMode } from '../../service/store/record-store.ts'
import type { ParsedRecord, RecordBatch } from './record.ts'

/** What to do about an invalid record. */
export const onErrors = ['stop', 'skip'] as const
export type OnError = (typeof onErrors)[number]

/** What to do if a different plant is stored under the id of a record. */
export const onConflicts = ['stop', 'keep', 'replace'] as const
export type OnConflict = (typeof onConflicts)[number]

/** `refuse` counts such a record as refused and imports the rest: for a dry run, which reads the whole file. */
export type ConflictAction = OnConflict | 'refuse'

/** The type of change for each plant of the file, and what its results mean to an import. */
const CHANGES: {
  readonly [action in ConflictAction]: {
    readonly type: 'create' | 'put'
    readonly mode: ApplyMode
    readonly results: { readonly [result in ChangeResult]?: ImportResult }
  }
} = {
  stop: {
    type: 'create',
    mode: 'all-or-none',
    results: { created: 'created', unchanged: 'replayed', 'plant-exists': 'conflict' },
  },
  refuse: {
    type: 'create',
    mode: 'each',
    results: { created: 'created', unchanged: 'replayed', 'plant-exists': 'conflict' },
  },
  keep: {
    type: 'create',
    mode: 'each',
    results: { created: 'created', unchanged: 'replayed', 'plant-exists': 'kept' },
  },
  replace: {
    type: 'put',
    mode: 'each',
    results: { created: 'created', unchanged: 'replayed', changed: 'replaced' },
  },
}

type ImportResult = StoredResult | 'conflict'

/** The results of records that are not refused. */
export type StoredResult = 'created' | 'replayed' | 'kept' | 'replaced'

export type ImportChange = Extract<PlantChange, { readonly type: 'create' | 'put' }>

/** The part of the store that an import needs. */
export interface ImportStore {
  /** See PlantStore.apply. */
  apply(changes: readonly ImportChange[], mode: ApplyMode): Promise<ListResult>
}

/** Number of records per result. `blank` counts records without any value. */
export type Counts = Record<StoredResult | 'refused' | 'blank', number>

export function newCounts(): Counts {
  return { created: 0, replayed: 0, replaced: 0, kept: 0, refused: 0, blank: 0 }
}

export interface RecordImportOptions {
  readonly store: ImportStore
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

/** How many ids are remembered to recognize repeated ones: as many as a spreadsheet has rows. They take 60 MB. */
export const REMEMBERED_IDS = 2 ** 20

/** The number of the first record with each id that was not refused. */
type FirstRecords = Map<bigint, number>

/**
 * Stores records in file order. If `batches` fails, stores the records before the failure first.
 *
 * @returns false if a refused record stopped the import: the records before it are stored, those after it are not
 * @throws StoreUnavailable, and the errors of `batches`
 */
export async function importRecords(
  batches: AsyncIterable<RecordBatch>,
  options: RecordImportOptions,
): Promise<boolean> {
  const firstRecords: FirstRecords = new Map()
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
    if (!(await storeRecords(pending, firstRecords, options))) return false
    options.onProgress(endByte)
    storedBytes = endByte
    pending = []
  }
  const isComplete = await storeRecords(pending, firstRecords, options)
  // A refused record comes before the failure, and is already reported.
  if (isComplete && failure !== undefined) throw failure.error
  return isComplete
}

/** Stores records together. Returns false if one of them stops the import. */
async function storeRecords(
  records: readonly ParsedRecord[],
  firstRecords: FirstRecords,
  options: RecordImportOptions,
): Promise<boolean> {
  const { store, onConflict, onError, counts, locate, onRefused, onRepeated } = options
  const isInvalid = ({ result }: ParsedRecord) => typeof result === 'string'
  const stopAt = onError === 'stop' ? records.findIndex(isInvalid) : -1
  const selected = stopAt === -1 ? records : records.slice(0, stopAt + 1)
  const plants = selected.flatMap(({ result }) => (typeof result === 'object' ? result : []))
  const results = plants.length === 0 ? [] : await importPlants(store, plants, onConflict)
  let next = 0
  for (const { number, result, ignored } of selected) {
    if (result === undefined) {
      counts.blank += 1
      continue
    }
    if (typeof result === 'string') {
      counts.refused += 1
      onRefused(locate(number), result)
      continue
    }
    const { id } = result
    const imported = known(results[next++])
    const first = firstRecords.get(id)
    const repetition = first === undefined ? '' : `repeats id ${id} of ${locate(first)}`
    if (imported === 'conflict') {
      counts.refused += 1
      const reason = repetition && `${repetition} with different content`
      onRefused(locate(number), reason || toFailure(id, 'plant-exists').message, result)
      if (onConflict === 'refuse') continue
      // The store imports nothing after a conflict.
      return false
    }
    if (first === undefined && firstRecords.size < REMEMBERED_IDS) firstRecords.set(id, number)
    if (counts[imported] === 0) options.onFirst?.(imported, locate(number), result)
    counts[imported] += 1
    if (repetition) onRepeated?.(locate(number), `${repetition} (${imported})`)
    if (ignored !== undefined) options.onIgnored?.(ignored)
  }
  return stopAt === -1
}

/**
 * Stores plants, in one transaction unless they affect too much text, and resolves to their results in the same order.
 * With `stop`, those from the first conflict on are not stored, and the results end with a conflict.
 */
export async function importPlants(
  store: ImportStore,
  plants: readonly NewPlant[],
  onConflict: ConflictAction,
): Promise<ImportResult[]> {
  const { type, mode, results } = CHANGES[onConflict]
  const changes = plants.map((plant) => ({ ...plant, type }))
  const applied = await store.apply(changes, mode)
  if (applied === 'too-large') {
    const middle = Math.ceil(plants.length / 2)
    const first = await importPlants(store, plants.slice(0, middle), onConflict)
    if (onConflict === 'stop' && first.at(-1) === 'conflict') return first
    return [...first, ...(await importPlants(store, plants.slice(middle), onConflict))]
  }
  const imported = applied.map((result) => known(results[result]))
  const conflict = imported.indexOf('conflict')
  if (conflict === -1 || mode === 'each') return imported
  return [...(await importPlants(store, plants.slice(0, conflict), onConflict)), 'conflict']
}

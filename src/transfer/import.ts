import {
  conflictMessage,
  type ImportResult,
  type OnConflict,
  type PlantStore,
} from '../../service/plant-store.ts'
import type { ParsedRecord, ParseResult } from './record-reader.ts'
import type { RecordBatch } from './record-stream.ts'

/** What to do about an invalid record. */
export const onErrors = ['stop', 'skip'] as const
export type OnError = (typeof onErrors)[number]

/** The part of the store that an import needs. */
export type ImportStore = Pick<PlantStore, 'importPlants'>

/** Number of records per outcome. */
export type Counts = Record<Exclude<ImportResult, 'conflict'> | 'refused', number>

export function newCounts(): Counts {
  return { created: 0, replayed: 0, replaced: 0, kept: 0, refused: 0 }
}

export interface RecordImportOptions {
  readonly store: ImportStore
  readonly onConflict: OnConflict
  readonly onError: OnError
  /** Incremented after every transaction, so it is accurate even if a later one fails. */
  readonly counts: Counts
  /** Called for each refused record, in file order, with its number. */
  readonly onRefused: (number: number, reason: string, isConflict: boolean) => void
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
 * @throws StoreUnavailable, and the errors of `batches`
 */
export async function importRecords(
  batches: AsyncIterable<RecordBatch>,
  options: RecordImportOptions,
): Promise<boolean> {
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
  for await (const { records, position } of readable()) {
    pending = pending.concat(records)
    if (pending.length < TRANSACTION_RECORDS && position - storedBytes < TRANSACTION_BYTES) continue
    if (!(await storeRecords(pending, options))) return false
    options.onProgress(position)
    storedBytes = position
    pending = []
  }
  const isComplete = await storeRecords(pending, options)
  // A refused record comes before the failure, and is already reported.
  if (isComplete && failure !== undefined) throw failure.error
  return isComplete
}

/** Stores records in one transaction. Returns false if one of them stops the import. */
async function storeRecords(
  records: readonly ParsedRecord[],
  { store, onConflict, onError, counts, onRefused, onIgnored }: RecordImportOptions,
): Promise<boolean> {
  const stopAt = onError === 'stop' ? records.findIndex(({ result }) => isInvalid(result)) : -1
  const selected = stopAt === -1 ? records : records.slice(0, stopAt + 1)
  const plants = selected.flatMap(({ result }) => (isInvalid(result) ? [] : result))
  const outcomes = plants.length === 0 ? [] : await store.importPlants(plants, onConflict)
  let next = 0
  for (const { number, result, ignored } of selected) {
    const outcome = isInvalid(result) ? undefined : outcomes[next++]
    if (outcome !== undefined && outcome !== 'conflict') {
      counts[outcome] += 1
      if (ignored !== undefined) onIgnored?.(ignored)
      continue
    }
    counts.refused += 1
    onRefused(
      number,
      isInvalid(result) ? result : conflictMessage(result.id),
      outcome === 'conflict',
    )
    // The store imports nothing after a conflict.
    if (outcome === 'conflict') return false
  }
  return stopAt === -1
}

function isInvalid(result: ParseResult): result is string {
  return typeof result === 'string'
}

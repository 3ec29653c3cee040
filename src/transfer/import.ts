import {
  conflictMessage,
  type ImportResult,
  type OnConflict,
  type PlantStore,
} from '../../service/plant-store.ts'
import type { Content, Entry } from './entry.ts'
import type { RecordBatch } from './record-stream.ts'

/** What to do about a record that is refused. */
export const onErrors = ['stop', 'skip'] as const
export type OnError = (typeof onErrors)[number]

/** How many records came to which end. */
export type Counts = Record<Exclude<ImportResult, 'conflict'> | 'refused', number>

export interface StoringOptions {
  readonly store: Pick<PlantStore, 'importPlants'>
  readonly onConflict: OnConflict
  readonly onError: OnError
  /** Grows with every transaction; right also when one fails. */
  readonly counts: Counts
  /** Told of each record that is refused, by its line, in their order. */
  readonly refuse: (line: number, reason: string) => void
  /** Told how many bytes of the catalogue are done. */
  readonly progress: (position: number) => void
}

/**
 * How many records make a transaction. Ids at random touch about a page each of the file, fewer the more
 * of them come together; but other processes have to wait until the transaction is over.
 */
export const BATCH_SIZE = 16_000

/** How many bytes of a catalogue do, where records are large. */
const BATCH_BYTES = 2 ** 22

/**
 * Stores the plants of a catalogue, in its order.
 *
 * @returns whether it came to the end. If not, the last record refused has stopped it: what is before it
 *   is stored, what is behind it is not
 * @throws StoreUnavailable, and what `batches` throws
 */
export async function storePlants(
  batches: AsyncIterable<RecordBatch>,
  options: StoringOptions,
): Promise<boolean> {
  let batch: Entry[] = []
  let stored = 0
  let read = 0
  for await (const { entries, position } of batches) {
    batch = batch.concat(entries)
    read = position
    if (batch.length < BATCH_SIZE && read - stored < BATCH_BYTES) continue
    if (!(await storeBatch(batch, options))) return false
    options.progress(read)
    stored = read
    batch = []
  }
  return await storeBatch(batch, options)
}

async function storeBatch(entries: readonly Entry[], options: StoringOptions): Promise<boolean> {
  const { store, onConflict, onError, counts, refuse } = options
  const bad = onError === 'stop' ? entries.findIndex(({ content }) => isReason(content)) : -1
  const wanted = bad === -1 ? entries : entries.slice(0, bad + 1)
  const plants = wanted.flatMap(({ content }) => (isReason(content) ? [] : content))
  const results = plants.length === 0 ? [] : await store.importPlants(plants, onConflict)
  let next = 0
  for (const { line, content } of wanted) {
    const result = isReason(content) ? undefined : results[next++]
    if (result !== undefined && result !== 'conflict') {
      counts[result] += 1
      continue
    }
    counts.refused += 1
    refuse(line, isReason(content) ? content : conflictMessage(content.id))
    if (result === 'conflict') return false
  }
  return bad === -1
}

function isReason(content: Content): content is string {
  return typeof content === 'string'
}

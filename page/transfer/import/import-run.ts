import type { StoredPlant } from '../../../client/client.ts'
import { FileProblem } from '../../../core/files/file-kind.ts'
import type { FileRecord } from '../../../core/files/file-record.ts'
import type { ToPlant } from '../../../page/transfer/file/plant-mapper.ts'
import { type ChangeOptions, ChangeRun, ConflictError } from '../../changes/change-run.ts'
import type { Intent } from '../../changes/delivery.ts'
import { pickContent } from '../../model/current-members.ts'
import type { Comparison } from './file-comparison.ts'

/**
 * What happens to a record whose id has a different plant: `stop` ends the import there, `keep` refuses the record, and
 * `replace` replaces the plant if the person has seen it.
 */
export type ConflictChoice = 'stop' | 'keep' | 'replace'

/** A record that is to be stored. */
export interface RecordIntent extends Intent {
  readonly record: FileRecord
}

/** A record that is not imported. */
export interface RefusedRecord {
  readonly record: FileRecord
  /** Without a final period. */
  readonly reason: string
  /** The stored plant that has the id. */
  readonly stored?: StoredPlant | undefined
}

export interface ImportOptions
  extends Omit<ChangeOptions<RecordIntent>, 'stopsAtConflict' | 'onRefused'> {
  readonly toPlant: ToPlant
  readonly onConflict: ConflictChoice
  /** What the person has seen of the store. */
  readonly seen: Pick<Comparison, 'different' | 'same'>
  readonly onRefused: (refused: RefusedRecord) => void
}

const STOPPED = 'A row has the id of a different plant.'

/**
 * Stores the plants of records. If records have the same id, the first one wins. Repeating an import is safe.
 *
 * @throws the reason of the signal
 * @throws FileProblem from `records`, once the records before it are imported, or at a record that ends the import
 */
export async function importRecords(
  records: AsyncIterable<FileRecord>,
  options: ImportOptions,
): Promise<void> {
  const { toPlant, onConflict, seen, onRefused, signal } = options
  const different = new Map(onConflict === 'replace' ? seen.different : [])
  const run = new ChangeRun<RecordIntent>({
    ...options,
    stopsAtConflict: onConflict === 'stop',
    onRefused: ({ intent: { record }, reason, stored }) => onRefused({ record, reason, stored }),
  })
  try {
    for await (const record of records) {
      signal.throwIfAborted()
      const plant = toPlant(record)
      if (typeof plant === 'string') {
        onRefused({ record, reason: plant })
        continue
      }
      const { id } = plant
      const after = pickContent(plant)
      const stored = different.get(id)
      // The first record has replaced it.
      different.delete(id)
      const before = stored ?? (seen.same.has(record.number) ? after : undefined)
      await run.add({ id, before: before && pickContent(before), after, record })
    }
    await run.flush()
  } catch (error) {
    if (error instanceof ConflictError) throw new FileProblem(STOPPED)
    if (error instanceof FileProblem) await run.flush()
    throw error
  }
}

import type { StoredPlant } from '../../../client/client.ts'
import { hasCondition } from '../../../client/errors.ts'
import { FileProblem } from '../../../core/files/file-kind.ts'
import type { FileRecord } from '../../../core/files/file-record.ts'
import { type ChangeOptions, ChangeRun } from '../../changes/change-run.ts'
import type { Intent } from '../../changes/intent.ts'
import { pickContent } from '../../model/current-members.ts'
import type { ChosenIds } from '../file/numbering.ts'
import { plantOf, type ReadRow } from '../file/plant-mapper.ts'
import type { Comparison, Outcome } from './file-comparison.ts'

/**
 * What happens to a record whose id has a different plant: `stop` ends the import there, `keep` refuses the record, and
 * `replace` and `update` change the plant if the person has seen it. `update` keeps what the record says nothing of.
 */
export type ConflictChoice = 'stop' | 'keep' | 'replace' | 'update'

/** What an import does with a file. */
export function outcomeOf({ whole, update }: Comparison, choice: ConflictChoice): Outcome {
  return choice === 'update' ? update : whole
}

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

export interface ImportOptions extends Omit<ChangeOptions<RecordIntent>, 'onRefused'> {
  readonly read: ReadRow
  readonly onConflict: ConflictChoice
  /** What the person has seen of the store. */
  readonly seen: Pick<Comparison, 'different'> & Pick<Outcome, 'same'>
  /** Those of the records for which somebody else can have taken the id. */
  readonly chosen?: ChosenIds | undefined
  readonly onRefused: (refused: RefusedRecord) => void
}

const STOPPED = 'A row has the id of a different plant.'

const REPEATED = 'An earlier row has the same id'

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
  const { canRead, onConflict, chosen, onRefused, signal } = options
  const stops = onConflict === 'stop'
  /** Those whose ids somebody else has taken meanwhile. */
  const taken: RecordIntent[] = []
  const run = new ChangeRun<RecordIntent>({
    ...options,
    canRead: canRead && !stops,
    onRefused: ({ intent, reason, error, stored, isTaken }) => {
      if (isTaken && chosen?.has(intent.id)) return void taken.push(intent)
      onRefused({ record: intent.record, reason, stored })
      if (stops && hasCondition(error, 'plant-exists')) throw new FileProblem(STOPPED)
    },
  })
  const flush = async () => {
    await run.flush()
    while (chosen !== undefined && taken.length > 0) {
      const ids = chosen.more(signal)
      for (const intent of taken.splice(0)) {
        await run.add({ ...intent, id: (await ids.next()).value })
      }
      await run.flush()
    }
  }
  const toIntent = intentMaker(options)
  try {
    for await (const record of records) {
      signal.throwIfAborted()
      const intent = toIntent(record)
      if (typeof intent === 'string') onRefused({ record, reason: intent })
      else await run.add(intent)
      if (taken.length > 0) await flush()
    }
    await flush()
  } catch (error) {
    if (error instanceof FileProblem) await flush()
    throw error
  }
}

/** Makes intents of records, one after the other. Otherwise, says why one is refused. */
function intentMaker({
  read,
  onConflict,
  seen,
}: ImportOptions): (record: FileRecord) => RecordIntent | string {
  const isUpdate = onConflict === 'update'
  const different = new Map(isUpdate || onConflict === 'replace' ? seen.different : [])
  return (record) => {
    const row = read(record)
    if (typeof row === 'string') return row
    const { id } = row
    const stored = different.get(id)
    // The first record has changed it.
    different.delete(id)
    // It is only counted.
    if (seen.same.has(record.number)) return { id, before: undefined, after: undefined, record }
    if (isUpdate && stored === undefined && seen.different?.has(id)) return REPEATED
    const plant = plantOf(row, isUpdate ? stored : undefined)
    if (typeof plant === 'string') return plant
    return { id, before: stored && pickContent(stored), after: pickContent(plant), record }
  }
}

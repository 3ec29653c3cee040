import { resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import {
  describeRecords,
  type ExportFormat,
  ExportProblem,
  type RecordFormat,
  type TextFormat,
} from '../../../core/files/record-formats.ts'
import { writeWorkbook } from '../../../core/files/xlsx/workbook-writer.ts'
import type { Member } from '../../../core/members/members.ts'
import { PlantCodec } from '../../../service/plant-codec.ts'
import { type ChangeFeed, readLatestCursor } from '../../../service/store/change-feed.ts'
import type { StoredPlant } from '../../../service/store/plant-store.ts'
import { describeDatabase } from '../../stores/engines.ts'
import { CommandError, fileError } from '../../system/user-errors.ts'
import { preferSmallHeap } from '../../system/v8-flags.ts'
import { detectFormat, formatPlants, readValues, STDIO } from '../../transfer/format.ts'
import { isClosedPipe, STDOUT_ERROR } from '../console/output.ts'
import { type ProgressDisplay, startProgress } from '../console/progress.ts'
import { onStopSignal } from '../console/signals.ts'
import { openTarget } from '../console/store-access.ts'
import { readStoredContract } from '../console/stored-contract.ts'
import { type Destination, isSameFile, openDestination } from './destination.ts'
import { type SelectionOptions, selectPlants } from './plant-selection.ts'

export interface ExportOptions extends SelectionOptions {
  readonly database: string
  /** By default determined by the file's extension; NDJSON on standard output. */
  readonly format?: ExportFormat
  /** Write CSV that is safe to open in a spreadsheet but cannot be imported unchanged. */
  readonly escapeFormulas?: true
  /** The file to write the cursor to, from which to follow the changes after the export. */
  readonly cursor?: string
}

/**
 * Exports the selected plants to a file, or to standard output for `-`, and prints their number on standard error. If a signal
 * interrupts it, the exit code is that of the signal. If the reader of standard output goes away, as `| head` does, the
 * export succeeds. If the reader of a named pipe does, the export fails.
 *
 * @throws FileError if the file cannot be written, CommandError if an option does not apply
 */
export async function exportPlants(file: string, options: ExportOptions): Promise<void> {
  const { database, format = chooseFormat(file), cursor } = options
  assertApplicable(format, options)
  if (cursor !== undefined) await requireOwnFile(cursor, file)
  preferSmallHeap()
  const store = await openTarget({ database })
  const interruption = new AbortController()
  const { signal } = interruption
  let destination: Destination | undefined
  let cursorFile: CursorFile | undefined
  let progress: ProgressDisplay | undefined
  let count = 0
  let summary = ''
  // Standard output needs neither a progress display nor cleanup. Writing to it can also block the process, which
  // would then not react to a signal that it handles itself.
  if (file !== STDIO) {
    progress = startProgress({ what: 'export', unit: 'plants' })
    onStopSignal((exitCode) => {
      process.exitCode = exitCode
      interruption.abort()
    })
  }
  try {
    // Before the export takes its snapshot, so that the changes after the cursor miss nothing.
    cursorFile = cursor === undefined ? undefined : await prepareCursor(store, cursor, database)
    const { contract, members, hidden } = await readStoredContract(store)
    const codec = new PlantCodec(members)
    const isSelected = selectPlants(contract, codec, options)
    destination = await openDestination(file, database)
    const selected = filterBatches(store.exportPlants(), isSelected)
    const onProgress = (plants: number) => {
      count = plants
      progress?.update(plants)
    }
    const chunks =
      format === 'xlsx'
        ? writeWorkbook(members, readValues(selected, codec, onProgress))
        : formatPlants(selected, selectRecordFormat(members, format, options), codec, onProgress)
    await pipeline(chunks, destination.stream, { signal })
    await destination.publish()
    // After the export, because an old cursor with a new export is harmless, and a new one with an old export is not.
    await cursorFile?.publish()
    const target = file === STDIO ? 'standard output' : resolve(file)
    summary = `exported ${count.toLocaleString('en')} plants from ${describeDatabase(database)} to ${target}\n${describeHidden(hidden)}`
  } catch (error) {
    if (error instanceof ExportProblem) throw new CommandError(error.message)
    if (file === STDIO) {
      if (!isClosedPipe(error)) throw fileError(STDOUT_ERROR, error)
    } else if (!signal.aborted) throw fileError(`cannot write ${file}`, error)
  } finally {
    progress?.end()
    await destination?.discard()
    await cursorFile?.discard()
    await store.close()
  }
  process.stderr.write(summary)
}

async function* filterBatches(
  batches: AsyncIterable<readonly StoredPlant[]>,
  isSelected: (plant: StoredPlant) => boolean,
): AsyncGenerator<StoredPlant[], void> {
  for await (const plants of batches) yield plants.filter(isSelected)
}

async function requireOwnFile(cursor: string, file: string): Promise<void> {
  if (cursor !== STDIO && (file === STDIO || !(await isSameFile(cursor, file)))) return
  throw new CommandError('--cursor requires a file other than the one for the plants')
}

/** @throws CommandError if an option does not apply to the format */
function assertApplicable(format: ExportFormat, { escapeFormulas }: ExportOptions): void {
  if (!escapeFormulas || format === 'csv') return
  throw new CommandError(`--escape-formulas requires CSV, not ${format}`)
}

function selectRecordFormat(
  members: readonly Member[],
  format: TextFormat,
  { escapeFormulas }: ExportOptions,
): RecordFormat {
  const { recordFormats, formulaFreeLine } = describeRecords(members)
  const recordFormat = recordFormats[format]
  return escapeFormulas ? { ...recordFormat, line: formulaFreeLine } : recordFormat
}

/** The warning about own fields that are not exported, or an empty string if there are none. */
function describeHidden(hidden: readonly string[]): string {
  if (hidden.length === 0) return ''
  return `plant-store: these fields are hidden, so they are not exported, and their values stay in the database: ${hidden.join(', ')}\n`
}

function chooseFormat(file: string): ExportFormat {
  return file === STDIO ? 'ndjson' : detectFormat(file)
}

/** The file for the cursor of an export. */
interface CursorFile {
  /** Writes the cursor and replaces the file. Call it once the export is complete. */
  publish(): Promise<void>
  /** Deletes what was written, unless it is published. */
  discard(): Promise<void>
}

/**
 * Reads the cursor of the latest change. An export whose snapshot is taken later has that change and all earlier ones.
 * It can also have some of the later ones; repeating those in order does no harm.
 *
 * @throws FileError if the file cannot be written
 */
async function prepareCursor(
  feed: ChangeFeed,
  file: string,
  database: string,
): Promise<CursorFile> {
  const cursor = await readLatestCursor(feed)
  const unwritable = (error: unknown) => {
    throw fileError(`cannot write ${file}`, error)
  }
  const { stream, publish, discard } = await openDestination(file, database).catch(unwritable)
  return {
    publish: () =>
      pipeline([`${cursor}\n`], stream)
        .then(publish)
        .catch(unwritable),
    discard,
  }
}

import type { OnConflict } from '../../service/plant-store.ts'
import { ConfigError, defaultConfig } from '../config/config.ts'
import { openStore } from '../stores/engines.ts'
import { codecs } from '../transfer/codecs.ts'
import { escapeControlCharacters } from '../transfer/control-characters.ts'
import { UnknownColumns } from '../transfer/csv.ts'
import { detectFormat, type Format, formatHint, formats } from '../transfer/format.ts'
import { type Counts, importRecords, newCounts, type OnError } from '../transfer/import.ts'
import { readRecords } from '../transfer/record-stream.ts'
import { recordValidator } from '../transfer/record-validator.ts'
import { openSource, readSource } from '../transfer/source.ts'
import { IgnoredMembers } from '../transfer/unknown-fields.ts'
import { print } from './destination.ts'
import { startProgress } from './progress.ts'
import { onStopSignal } from './signals.ts'
import { preferSmallHeap } from './v8-flags.ts'

export interface ImportOptions {
  readonly database: string
  /** By default determined by the file's extension. */
  readonly format?: Format
  readonly onConflict: OnConflict
  readonly onError: OnError
  /** The largest record accepted, in bytes. */
  readonly recordLimit: number
  /** Import CSV files that have columns which are not stored. */
  readonly ignoreUnknown?: true
  /** Refuse JSON records that have members which are not stored. */
  readonly strict?: true
}

const EXIT_STOPPED = 1
const EXIT_SOME_REFUSED = 2

/** Follows the reason why a record is refused. */
const CONFLICT_HINT = '; use --on-conflict keep or --on-conflict replace to import the rest'

/**
 * Imports the plants of a file, or of standard input for `-`. Reports refused records on standard error and prints a
 * summary. Sets the exit code: 1 if a record stopped the import, 2 if some records were skipped, or that of the signal
 * that interrupted it.
 *
 * @throws ConfigError if the file cannot be read, its format is unknown, its header is invalid or an option does not
 *   apply to its format
 */
export async function importPlants(file: string, options: ImportOptions): Promise<void> {
  const {
    database,
    onConflict,
    onError,
    recordLimit,
    ignoreUnknown = false,
    strict = false,
    format = detectFormat(file, formats, formatHint(formats)),
  } = options
  assertApplicable(format, { ignoreUnknown, strict })
  preferSmallHeap()
  const { stream, sizeBytes } = await openSource(file)
  const counts = newCounts()
  const ignored = new IgnoredMembers()
  let interruptedBy: number | undefined
  const chunks = readSource(file, stream, () => interruptedBy !== undefined)
  // The reader of standard error can go away, as `| head` does. The import continues.
  process.stderr.on('error', () => {})
  const { lockTimeout } = defaultConfig()
  const store = await openStore({ database, lockTimeout, sameThread: true }).catch((error) => {
    stream.destroy()
    throw error
  })
  const progress = startProgress({
    what: 'import',
    unit: 'bytes',
    ...(sizeBytes !== undefined && { total: sizeBytes }),
  })
  try {
    onStopSignal((exitCode) => {
      interruptedBy = exitCode
      stream.destroy()
    })
    const { Reader, counted } = codecs[format]
    const unknown = { ignoreColumns: ignoreUnknown, refuseMembers: strict }
    const batches = readRecords(chunks, new Reader(recordValidator(), recordLimit, unknown))
    const isComplete = await importRecords(batches, {
      store,
      onConflict,
      onError,
      counts,
      onRefused: (number, reason, isConflict) => {
        const hint = isConflict ? CONFLICT_HINT : ''
        progress.printLine(`${counted} ${number}: ${escapeControlCharacters(reason)}${hint}`)
      },
      onIgnored: (names) => ignored.add(names),
      onProgress: (bytes) => progress.update(bytes),
    })
    if (!isComplete) process.exitCode = EXIT_STOPPED
    else process.exitCode = interruptedBy ?? (counts.refused > 0 ? EXIT_SOME_REFUSED : 0)
  } catch (error) {
    if (error instanceof UnknownColumns) {
      throw new ConfigError(
        `${error.message}; use --ignore-unknown to import the file without unknown columns`,
      )
    }
    // An interrupted file can end anywhere, even within a JSON array.
    if (interruptedBy === undefined) throw error
    process.exitCode = interruptedBy
  } finally {
    progress.end()
    stream.destroy()
    await store.close()
    await print(summary(counts) + ignored.summary())
  }
}

/** @throws ConfigError if an option does not apply to the format: ignoring it would lose data that it is to protect */
function assertApplicable(
  format: Format,
  { ignoreUnknown, strict }: { readonly ignoreUnknown: boolean; readonly strict: boolean },
): void {
  if (strict && format === 'csv') {
    throw new ConfigError(
      'cannot use --strict with CSV, whose unknown columns are refused anyway; omit it',
    )
  }
  if (ignoreUnknown && format !== 'csv') {
    throw new ConfigError(
      'cannot use --ignore-unknown with NDJSON or JSON, whose unknown members are ignored anyway; omit it, or use --strict to refuse them',
    )
  }
}

function summary(counts: Counts): string {
  return Object.entries(counts)
    .map(([outcome, count]) => {
      const isUnclear = outcome === 'replayed' && count > 0
      return `${outcome} ${count}${isUnclear ? ' (already stored with the same content)' : ''}\n`
    })
    .join('')
}

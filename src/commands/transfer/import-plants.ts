import type { Header } from '../../../core/files/csv-dialect.ts'
import type { Quote } from '../../../core/files/csv-reader.ts'
import type { Encoding } from '../../../core/files/encoding.ts'
import { counted, type Format } from '../../../core/files/formats.ts'
import { keysOf } from '../../../core/known.ts'
import type { Member } from '../../../core/members/members.ts'
import { describeDatabase } from '../../stores/engines.ts'
import type { PlantReader } from '../../stores/shared/store.ts'
import { StoreError } from '../../stores/shared/store-error.ts'
import { escapeControlCharacters } from '../../system/control-characters.ts'
import { CommandError, Interrupted, messageOf } from '../../system/user-errors.ts'
import { preferSmallHeap } from '../../system/v8-flags.ts'
import { type Counts, importRecords, newCounts, type OnError } from '../../transfer/import.ts'
import { importStore, type OnConflict } from '../../transfer/import-changes.ts'
import { openInput } from '../../transfer/input.ts'
import { describeReading, openRecords, UnknownColumns } from '../../transfer/record-batches.ts'
import { FreeIds, givenIds, matchIds, newIds, type RecordIds } from '../../transfer/record-ids.ts'
import { IgnoredMembers, quote } from '../../transfer/unknown-fields.ts'
import { ClosedPipe, print } from '../console/output.ts'
import { startProgress } from '../console/progress.ts'
import { onStopSignal } from '../console/signals.ts'
import { openTarget, openTargetReader, type Target } from '../console/store-access.ts'
import { readStoredContract, type StoredContract } from '../console/stored-contract.ts'
import { DryRun } from './dry-run.ts'
import { ImportPreview } from './import-findings.ts'

export interface ImportOptions {
  readonly database: string
  /** By default, this and the next six are recognized. */
  readonly format?: Format
  readonly encoding?: Encoding
  readonly separator?: string
  readonly quote?: Quote
  readonly header?: Header
  readonly array?: string
  readonly sheet?: string
  /** The columns of members, such as `name=Taxon`. */
  readonly column?: readonly string[]
  readonly onConflict: OnConflict
  readonly onError: OnError
  /** Find the stored plants by this member instead of the id. */
  readonly match?: string
  /** Import every record as a new plant, under a free id. */
  readonly newIds?: true
  /** Import CSV files that have columns which are not stored. */
  readonly ignoreUnknown?: true
  /** Refuse JSON records that have members which are not stored. */
  readonly strict?: true
  /** Create the database if it does not exist. */
  readonly create?: true
  /** Store nothing, and report what an import would do. */
  readonly dryRun?: true
}

const EXIT_STOPPED = 1
const EXIT_SOME_REFUSED = 2

const INTERRUPTED =
  'interrupted: the summary counts the records that are stored; import the same file again to continue'

const DRY_RUN_INTERRUPTED = 'interrupted: the summary counts the records that have been read'

/** Follows the reason why a record is refused. */
const CONFLICT_HINT = '; use --on-conflict keep, replace or update to import the rest'

/**
 * Imports the plants of a file, or of standard input for `-`. Reports refused and repeated records on standard error
 * and prints a summary. Sets the exit code: 1 if a record stopped the import, 2 if some records were skipped. A dry run
 * reads the whole file, and has the same exit code.
 *
 * @throws FileError if the file cannot be read or has no plants; CommandError if an option does not apply to its columns;
 *   Interrupted if a signal ends it; MissingDatabase
 */
export async function importPlants(file: string, options: ImportOptions): Promise<void> {
  const {
    database,
    onConflict,
    onError,
    ignoreUnknown = false,
    strict = false,
    create = false,
    dryRun = false,
    column = [],
  } = options
  preferSmallHeap()
  const interruption = new AbortController()
  const { chunks, isFile, sizeBytes, close } = await openInput(file, interruption.signal)
  const counts = newCounts()
  const target = { database, create }
  const isUpdate = onConflict === 'update'
  const opened = await openImport(target, dryRun).catch((error) => {
    close()
    throw error
  })
  const { source, store, members } = opened
  const preview = store instanceof DryRun ? new ImportPreview(store, options) : undefined
  const ignored = new IgnoredMembers(members)
  const progress = startProgress({
    what: dryRun ? 'dry run' : 'import',
    unit: 'bytes',
    ...(sizeBytes !== undefined && { total: sizeBytes }),
  })
  let reading = ''
  try {
    const message = dryRun ? DRY_RUN_INTERRUPTED : INTERRUPTED
    onStopSignal((exitCode) => interruption.abort(new Interrupted(exitCode, message)))
    const readMembers = membersToRead(members, options)
    const records = await openRecords(chunks, {
      ...options,
      file,
      columns: column,
      members: readMembers.all,
      required: readMembers.required,
      ignoreColumns: ignoreUnknown,
      refuseMembers: strict,
      canBeCutOff: !isFile,
    })
    const { format, batches } = records
    reading = describeReading(records)
    const locate = (number: number) => `${counted[format]} ${number}`
    const ids = await chooseIds(opened, options, { locate, signal: interruption.signal })
    const isComplete = await importRecords(batches, {
      store,
      members,
      ids,
      onConflict,
      skipsConflicts: dryRun,
      onError: dryRun ? 'skip' : onError,
      counts,
      locate,
      onFirst: (result, where, plants) => preview?.noteFirst(result, where, plants),
      onRefused: (where, reason, conflict) => {
        preview?.noteRefused(where, reason, conflict)
        const hint = conflict === undefined || dryRun ? '' : CONFLICT_HINT
        progress.printLine(`${where}: ${escapeControlCharacters(reason)}${hint}`)
      },
      onRepeated: (where, message) => progress.printLine(`${where}: ${message}`),
      onIgnored: (names) => ignored.add(names),
      onProgress: (bytes) => progress.update(bytes),
      signal: interruption.signal,
    })
    for (const sentence of records.describeDamage()) {
      progress.printLine(escapeControlCharacters(sentence))
    }
    if (!isComplete || preview?.isStopped) process.exitCode = EXIT_STOPPED
    else process.exitCode = counts.refused > 0 ? EXIT_SOME_REFUSED : 0
  } catch (error) {
    if (error instanceof UnknownColumns) {
      throw new CommandError(
        `${error.message}; use --ignore-unknown to import the file without unknown columns`,
      )
    }
    throw error
  } finally {
    progress.end()
    close()
    await source.close()
    const end = `${preview?.describeEnd() ?? ''}database ${describeDatabase(database)}\n`
    await print(`${reading}${summary(counts, isUpdate, preview)}${ignored.summary()}${end}`).catch(
      (error) => {
        // The exit code says how the import ended.
        if (!(error instanceof ClosedPipe)) throw error
      },
    )
  }
}

/** Opens a database, or a dry run on it, and reads its contract. */
async function openImport(target: Target, dryRun: boolean) {
  if (dryRun) {
    const source = await openTargetReader(target)
    const stored = await readContract(target, source)
    return { ...stored, source, store: new DryRun(source, stored.members) }
  }
  const source = await openTarget(target)
  const stored = await readContract(target, source)
  return { ...stored, source, store: importStore(source, stored.members) }
}

/** The members that a file can have, and those without which no record can be stored. */
function membersToRead(
  members: readonly Member[],
  { match, newIds, onConflict }: Pick<ImportOptions, 'match' | 'newIds' | 'onConflict'>,
) {
  const hasIds = match === undefined && newIds === undefined
  const all = hasIds ? members : members.filter(({ name }) => name !== 'id')
  const isUpdate = onConflict === 'update'
  const isNeeded = ({ name, isRequired }: Member) =>
    name === match || (isRequired && !(isUpdate && name !== 'id'))
  return { all, required: all.filter(isNeeded) }
}

/** @throws CommandError if plants cannot be matched by a member, and the errors of `matchIds` */
async function chooseIds(
  { source, members }: { readonly source: PlantReader; readonly members: readonly Member[] },
  { match, newIds: isNew }: Pick<ImportOptions, 'match' | 'newIds'>,
  options: { readonly locate: (number: number) => string; readonly signal: AbortSignal },
): Promise<RecordIds> {
  if (isNew) return newIds(await FreeIds.open(source, members))
  if (match === undefined) return givenIds
  const allowed = members.filter(({ name, schema }) => schema !== undefined || name === 'name')
  const member = allowed.find(({ name }) => name === match)
  if (member === undefined) {
    throw new CommandError(
      `cannot match by ${quote(match)}: expected ${allowed.map(({ name }) => name).join(', ')}`,
    )
  }
  const free = await FreeIds.open(source, members)
  return matchIds({ member, store: source, free, ...options })
}

/**
 * Reads the contract of an open database, and closes the database if that fails.
 *
 * @throws StoreError
 */
async function readContract({ database }: Target, opened: PlantReader): Promise<StoredContract> {
  try {
    return await readStoredContract(opened)
  } catch (cause) {
    await opened.close()
    throw new StoreError(
      `cannot read the own fields of ${describeDatabase(database)}: ${messageOf(cause)}`,
      { cause },
    )
  }
}

function summary(
  { blank, removed, ...counts }: Counts,
  isUpdate: boolean,
  preview?: ImportPreview,
): string {
  const unused = isUpdate ? ['replaced', 'kept'] : ['updated']
  const results = keysOf(counts).filter((result) => !unused.includes(result))
  const lines = results.map((result) => {
    const count = counts[result]
    const isUnclear = result === 'replayed' && count > 0
    const note = isUnclear ? ' (already stored with the same content)' : ''
    return `${result} ${count}${note}\n${preview?.describeFirst(result) ?? ''}`
  })
  if (removed > 0) lines.push(`removed ${removed} (values of empty cells, or null)\n`)
  if (blank > 0) lines.push(`blank ${blank} (rows without any value)\n`)
  return lines.join('')
}

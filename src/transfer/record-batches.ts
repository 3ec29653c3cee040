import { type Column, columnsOf, type Mapping } from '../../core/files/columns.ts'
import { FileProblem, isWorkbook } from '../../core/files/file-kind.ts'
import type { FileRecord } from '../../core/files/file-record.ts'
import { type Format, hasCells } from '../../core/files/formats.ts'
import {
  type FileChoices,
  nounOf,
  type PlantFile,
  recognizeFile,
  START_BYTES,
} from '../../core/files/plant-file.ts'
import { describeRecords } from '../../core/files/record-formats.ts'
import { damageFinder, type ReadValues, recordMapper } from '../../core/files/record-mapper.ts'
import { NEWLINE } from '../../core/json/bytes.ts'
import { keysOf } from '../../core/known.ts'
import type { Member } from '../../core/members/members.ts'
import { FileError } from '../system/user-errors.ts'
import { isNdjsonName } from './format.ts'
import type { ParsedRecord, RecordBatch } from './record.ts'
import { describeUnknown, listNames, NAMES_MAX, quote as quoteText } from './unknown-fields.ts'

/** The file has columns other than those of a plant, whose data would be lost. */
export class UnknownColumns extends FileError {}

/** The same as on the page. */
const WORKBOOK_BYTES_MAX = 200_000_000

const CR = 13

const CUT_OFF = 'the input ends within this line; end it with a newline if it is complete'

/** How to read a file. */
export interface ReadOptions extends FileChoices {
  /** Its name. An empty file can be NDJSON only by its name or by choice. */
  readonly file: string
  /** Those of a plant. */
  readonly members: readonly Member[]
  /** The columns of members, such as `name=Taxon`. Several columns of a member are joined. */
  readonly columns?: readonly string[]
  /** The members without which a record cannot be stored. */
  readonly required?: readonly Member[]
  /** Read CSV files that have columns other than those of a plant, which are not stored. */
  readonly ignoreColumns?: boolean
  /** Refuse JSON records that have members other than those of a plant, which are not stored. */
  readonly refuseMembers?: boolean
  /** Whether the input can end anywhere, like that of a pipe whose writer is killed. */
  readonly canBeCutOff?: boolean
}

/** The records of a file, and how they are read. */
export interface RecordSource
  extends Pick<
    PlantFile,
    'format' | 'encoding' | 'dialect' | 'header' | 'array' | 'sheet' | 'sheets'
  > {
  /** The columns of each member, for people. */
  readonly columns: ReadonlyMap<string, readonly string[]>
  readonly batches: AsyncGenerator<RecordBatch, void>
  /** Says how other programs seem to have damaged the values of the records so far, in a sentence each. */
  readonly describeDamage: () => readonly string[]
}

/**
 * Recognizes how a file is written, and opens its records, which are read as its bytes arrive. The last record needs no
 * newline.
 *
 * @throws FileError if the file has no plants, or its columns do not fit. The batches throw it after the records before
 *   the fault, and the errors of `chunks`
 */
export async function openRecords(
  chunks: AsyncIterable<Uint8Array>,
  options: ReadOptions,
): Promise<RecordSource> {
  const { members } = options
  try {
    const { start, isWhole, all } = await readStart(chunks)
    const isEmpty = start.length === 0 && isNdjsonName(options.file)
    const choices = isEmpty ? { ...options, format: 'ndjson' as const } : options
    const file = isWorkbook(start)
      ? await recognizeSheets(await collect(all), members, choices)
      : await recognizeFile(start, isWhole, members, choices)
    requireApplicable(options, file.format)
    // Without a line break, the header may not be complete.
    const isCutOff = options.canBeCutOff && isWhole && ![CR, NEWLINE].includes(start.at(-1) ?? CR)
    if (isCutOff && file.format === 'csv' && file.sample.length === 0) {
      throw new FileError(CUT_OFF)
    }
    const mapping = chooseColumns(file, options)
    requireColumns(file, mapping, options)
    const parse = recordParser(file, mapping, options)
    const damage = damageFinder(members, mapping)
    return {
      ...file,
      columns: new Map(
        members.map(({ name }) => [
          name,
          columnsOf(mapping, name).map((key) => labelOf(file, key)),
        ]),
      ),
      batches: parseBatches(file.read(all), (record) => {
        damage.note(record)
        return parse(record)
      }),
      describeDamage: () => damage.describe(nounOf(file.format)),
    }
  } catch (error) {
    throw toFileError(error)
  }
}

/** The code for workbooks is loaded when it is needed. */
async function recognizeSheets(file: Blob, members: readonly Member[], choices: FileChoices) {
  const { recognizeWorkbook } = await import('../../core/files/xlsx/workbook-file.ts')
  return recognizeWorkbook(file, members, choices)
}

/** Workbooks are read from their end, so that they must be in memory. */
async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  for await (const chunk of chunks) {
    length += chunk.length
    if (length > WORKBOOK_BYTES_MAX) {
      throw new FileError(`a workbook must not exceed ${WORKBOOK_BYTES_MAX} bytes`)
    }
    parts.push(chunk as Uint8Array<ArrayBuffer>)
  }
  return new Blob(parts)
}

const TEXT_FORMATS: readonly Format[] = ['csv', 'ndjson', 'json']

/** The formats that each choice applies to. */
const APPLICABLE: { readonly [Name in Exclude<keyof FileChoices, 'format'>]: readonly Format[] } = {
  encoding: TEXT_FORMATS,
  separator: ['csv'],
  quote: ['csv'],
  header: ['csv', 'xlsx'],
  array: ['json'],
  sheet: ['xlsx'],
}

/** @throws FileError for a choice that has no effect on a file */
function requireApplicable(choices: FileChoices, format: Format): void {
  if (choices.format !== undefined && choices.format !== format) {
    throw new FileError(`the file is ${format}, not ${choices.format}: omit --format`)
  }
  for (const name of keysOf(APPLICABLE)) {
    if (choices[name] !== undefined && !APPLICABLE[name].includes(format)) {
      throw new FileError(`--${name} has no effect on ${format}: omit it`)
    }
  }
}

async function* parseBatches(
  batches: ReturnType<PlantFile['read']>,
  parse: (record: FileRecord) => ParsedRecord,
): AsyncGenerator<RecordBatch, void> {
  try {
    for await (const { records, endByte } of batches) yield { records: records.map(parse), endByte }
  } catch (error) {
    throw toFileError(error)
  }
}

/** Errors of commands follow a colon, and have no final period. */
function toFileError(error: unknown): unknown {
  if (!(error instanceof FileProblem)) return error
  const { message } = error
  return new FileError(`${message.charAt(0).toLowerCase()}${message.slice(1, -1)}`, {
    cause: error,
  })
}

/** How a file is read, as a line. Empty if it is read as this service writes it. */
export function describeReading({
  format,
  encoding,
  dialect,
  header,
  array,
  sheet,
  sheets,
  columns,
}: RecordSource): string {
  const { separator = ',', quote = '"' } = dialect ?? {}
  const parts = [
    ...(encoding === 'utf-8' ? [] : [encoding]),
    ...([',', ';', '\t'].includes(separator)
      ? []
      : [`separator ${separator === '' ? 'none' : JSON.stringify(separator)}`]),
    ...(quote === '"' ? [] : [`quote ${quote || 'none'}`]),
    ...(header === undefined || header === 1 ? [] : [`header ${header}`]),
    ...(array === undefined ? [] : [`array ${array}`]),
    ...(sheets.length < 2 ? [] : [`sheet ${quoteText(sheet ?? '')}`]),
    ...[...columns].flatMap(([name, labels]) =>
      labels.length === 0 || (labels.length === 1 && labels[0] === name)
        ? []
        : [`${name} from ${labels.map((label) => quoteText(label)).join(' and ')}`],
    ),
  ]
  return parts.length === 0 ? '' : `read as ${format}: ${parts.join(', ')}\n`
}

/** Reads the start of a file, which `all` repeats. */
async function readStart(chunks: AsyncIterable<Uint8Array>) {
  const iterator = chunks[Symbol.asyncIterator]()
  const first: Uint8Array[] = []
  let length = 0
  let isWhole = false
  while (length < START_BYTES && !isWhole) {
    const next = await iterator.next()
    if (next.done) isWhole = true
    else length += first.push(next.value) && next.value.length
  }
  async function* all() {
    yield* first
    first.length = 0
    if (!isWhole) yield* { [Symbol.asyncIterator]: () => iterator }
  }
  return {
    start: Buffer.concat(first).subarray(0, START_BYTES),
    isWhole: isWhole && length <= START_BYTES,
    all: all(),
  }
}

/**
 * The columns that are guessed, replaced by those that are chosen.
 *
 * @throws FileError if a choice names no member or column
 */
function chooseColumns(file: PlantFile, { members, columns = [] }: ReadOptions): Mapping {
  const chosen: { [name: string]: string[] } = {}
  for (const choice of columns) {
    const [, name = '', column = ''] = /^(.*?)=(.*)$/s.exec(choice) ?? []
    if (members.every((member) => member.name !== name)) {
      throw new FileError(
        `--column ${quoteText(choice)}: expected a member and a column, as in name=Taxon; the members are ${listNames(members)}`,
      )
    }
    const found = file.columns.find(
      ({ key, label }) => label.trim() === column || (column === key && !hasCells(file.format)),
    )
    if (found === undefined) {
      throw new FileError(
        `--column ${quoteText(choice)}: the file has no such column; ${describeColumns(file.columns)}`,
      )
    }
    chosen[name] = [...(Object.hasOwn(chosen, name) ? (chosen[name] ?? []) : []), found.key]
  }
  const used = new Set(Object.values(chosen).flat())
  const guessed = members.flatMap(({ name }) => {
    const keys = columnsOf(file.guess, name).filter((key) => !used.has(key))
    if (keys.length > 0) return [[name, keys]]
    // Its values are not ids, which the records say, or a member is in a later record alone.
    const key = !hasCells(file.format) ? name : file.columns.find((each) => each.name === name)?.key
    return key === undefined || used.has(key) ? [] : [[name, [key]]]
  })
  return { ...Object.fromEntries(guessed), ...chosen }
}

const WITHOUT_IDS = '; without ids, use --match or --new-ids'

/** @throws FileError if a column is missing or, unless such columns are ignored, unknown */
function requireColumns(file: PlantFile, mapping: Mapping, options: ReadOptions): void {
  if (!hasCells(file.format)) return
  const {
    members,
    required = members.filter(({ isRequired }) => isRequired),
    ignoreColumns,
  } = options
  if (file.columns.length === 0) {
    throw new FileError(
      `the file is empty: expected a header such as ${describeRecords(members).csvHeader}`,
    )
  }
  const used = new Set(Object.values(mapping).flat())
  const unknown = file.columns.filter(({ key }) => !used.has(key))
  const missing = required.filter(({ name }) => columnsOf(mapping, name).length === 0)
  if (missing.length > 0) {
    const { csvHeader } = describeRecords(members)
    throw new FileError(
      `the file has no column for ${listNames(missing)}: name it in the header, as in ${csvHeader}, or choose it, as in --column ${missing[0]?.name}=COLUMN${missing.some(({ name }) => name === 'id') ? WITHOUT_IDS : ''}; ${describeColumns(file.columns)}`,
    )
  }
  if (unknown.length === 0 || ignoreColumns) return
  const described = unknown.slice(0, NAMES_MAX).map(({ label }) => describeUnknown(label, members))
  const more = unknown.length > NAMES_MAX ? ` and ${unknown.length - NAMES_MAX} more` : ''
  const columns = unknown.length === 1 ? 'an unknown column' : `${unknown.length} unknown columns`
  throw new UnknownColumns(
    `the file has ${columns}, ${described.join(', ')}${more}: expected only ${listNames(members)}`,
  )
}

function describeColumns(columns: readonly Column[]): string {
  const labels = columns.slice(0, NAMES_MAX).map(({ label }) => quoteText(label))
  const more = columns.length > NAMES_MAX ? ` and ${columns.length - NAMES_MAX} more` : ''
  return `its columns are ${labels.join(', ')}${more}`
}

function labelOf({ columns }: PlantFile, key: string): string {
  return columns.find((column) => column.key === key)?.label ?? key
}

function recordParser(
  { format }: PlantFile,
  mapping: Mapping,
  { members, refuseMembers = false, canBeCutOff = false }: ReadOptions,
): (record: FileRecord) => ParsedRecord {
  const read: ReadValues = recordMapper(members, mapping, format)
  const findUnknown = unknownFinder(new Set(Object.values(mapping).flat()))
  return (record) => {
    const { number, isBlank, isUnterminated, values } = record
    if (isUnterminated && canBeCutOff) return { number, result: CUT_OFF }
    if (isBlank) return { number, result: undefined }
    const result = read(record)
    if (typeof result === 'string' || hasCells(format)) return { number, result }
    const ignored = findUnknown(values)
    if (ignored.length === 0) return { number, result }
    if (!refuseMembers) return { number, result, ignored }
    const properties = ignored.length === 1 ? 'property' : 'properties'
    const list = ignored.map((name) => describeUnknown(name, members)).join(', ')
    return { number, result: `unknown ${properties} ${list}` }
  }
}

/**
 * Finds the names of members that are not stored. Those of an object count instead of the object if one of them is
 * stored.
 *
 * @param used the keys of those that are stored
 */
function unknownFinder(used: ReadonlySet<string>) {
  const nested = [...used].filter((key) => key.includes('.'))
  const parents = new Set(nested.map((key) => parentOf(key)))
  return (values: FileRecord['values']): readonly string[] => {
    const unknown: string[] = []
    for (const name of Object.keys(values)) {
      if (used.has(name) || parents.has(name)) continue
      const parent = parentOf(name)
      const isPart = parent !== '' && !parents.has(parent) && Object.hasOwn(values, parent)
      if (!isPart && unknown.push(name) === NAMES_MAX) break
    }
    return unknown
  }
}

function parentOf(key: string): string {
  return key.slice(0, Math.max(key.indexOf('.'), 0))
}

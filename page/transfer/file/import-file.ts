import { type Column, guessMapping, isId, type Mapping } from '../../../core/files/columns.ts'
import { CsvReader } from '../../../core/files/csv-reader.ts'
import {
  type FileRecord,
  MalformedFile,
  type RecordReader,
} from '../../../core/files/file-record.ts'
import { JsonArrayReader, NdjsonReader } from '../../../core/files/json-readers.ts'
import type { Format } from '../../../core/files/readers.ts'
import { known } from '../../../core/known.ts'
import { members } from '../../model/current-members.ts'
import {
  detectEncoding,
  detectFormat,
  type Encoding,
  FileProblem,
  nounOf,
  readText,
  wrapperOf,
} from './file-kind.ts'

/** The line of a CSV file that names its columns. */
export type Header = number | 'none'

/** A line of a CSV file that may name its columns. */
export interface HeaderCandidate {
  readonly line: number
  readonly text: string
}

/** A file that can be imported. */
export interface ImportFile {
  readonly name: string
  readonly size: number
  readonly format: Format
  readonly encoding: Encoding
  /** Whether the page chooses the ids, so that importing the file again would add all plants again. */
  readonly isNumbered?: boolean
  /** Undefined unless the format is CSV. */
  readonly header: Header | undefined
  /** The first lines of a CSV file. */
  readonly candidates: readonly HeaderCandidate[]
  /** Whether it probably is an export for a spreadsheet, which has apostrophes before formulas. */
  readonly isEscaped: boolean
  readonly columns: readonly Column[]
  /** Which column probably has which property. */
  readonly guess: Mapping
  /** The first records. */
  readonly sample: readonly FileRecord[]
  /**
   * All records.
   *
   * @param onRead called with the number of bytes read so far
   * @throws FileProblem
   */
  readonly records: (onRead?: (bytes: number) => void) => AsyncIterable<FileRecord>
  /** The same file with another header. */
  readonly withHeader: (header: Header) => Promise<ImportFile>
}

const SAMPLE_RECORDS = 8

/** Members that are offered. Objects used as dictionaries can have thousands. */
const COLUMNS_MAX = 100

/**
 * Recognizes the format and the encoding of a file, and reads its columns and first records.
 *
 * @param chosen the header; by default, the page guesses
 * @throws FileProblem
 */
export async function openFile(file: File, chosen?: Header): Promise<ImportFile> {
  const encoding = await detectEncoding(file)
  const start = await readStart(file, encoding)
  const format = detectFormat(start)
  const read = (firstLine: number, onRead?: (bytes: number) => void) =>
    readRecords(format, readText(file, encoding, onRead), firstLine, wrapperOf(start))
  const first = await take(read(1), SAMPLE_RECORDS)
  const header = format === 'csv' ? (chosen ?? guessHeader(first)) : undefined
  const firstLine = typeof header === 'number' ? header : 1
  const hasHeader = typeof header === 'number'
  const sample = await take(read(firstLine), SAMPLE_RECORDS + 1)
  const named = hasHeader ? sample.shift() : undefined
  if (sample.length === 0) {
    const rest = named === undefined ? '' : ', only column names'
    throw new FileProblem(`There are no plants in this file${rest}.`)
  }
  if (format === 'ndjson' && sample.every(({ problem }) => problem !== undefined)) {
    throw new FileProblem('Write the plants as an array in brackets, or one object per line.')
  }
  const columns = format === 'csv' ? listColumns(named, sample) : listMembers(sample)
  const { name, size } = file
  return {
    name,
    size,
    format,
    encoding,
    header,
    candidates: format === 'csv' ? first.map(toCandidate) : [],
    isEscaped: format === 'csv' && (ESCAPED.test(start) || sample.some(hasEscaped)),
    columns,
    guess: guessMapping(members, columns, sample),
    sample: sample.slice(0, SAMPLE_RECORDS),
    records: (onRead) =>
      hasHeader ? withoutFirst(read(firstLine, onRead)) : read(firstLine, onRead),
    withHeader: (header) => openFile(file, header),
  }
}

/** The first lines of an export for a spreadsheet, which has quotes around text that needs none. */
const ESCAPED = /^id([,;\t])name\b.*\r?\n-?\d+\1"[^",;\t\r\n]*"/

/** Whether a record has an apostrophe before what could be a formula. */
function hasEscaped({ values }: FileRecord): boolean {
  return Object.values(values).some((field) => /^'\s*[=+\-@＝＋－＠]/.test(String(field)))
}

async function take(records: AsyncIterable<FileRecord>, count: number): Promise<FileRecord[]> {
  const taken: FileRecord[] = []
  for await (const record of records) {
    taken.push(record)
    if (taken.length === count) break
  }
  return taken
}

/** The first line with several fields, because a title has one. There is no header if it has an id. */
function guessHeader(records: readonly FileRecord[]): Header {
  const isWide = ({ values }: FileRecord) => filledFields(values).length > 1
  const index = Math.max(records.findIndex(isWide), 0)
  const [header, next] = records.slice(index)
  if (header === undefined) return 1
  const hasIds = ({ values }: FileRecord) =>
    Object.keys(values).some((key) => isId(values[key]) && isId(next?.values[key]))
  return hasIds(header) ? 'none' : header.number
}

function filledFields(values: FileRecord['values']): readonly unknown[] {
  return Object.values(values).filter((field) => String(field ?? '').trim() !== '')
}

function toCandidate({ number, values }: FileRecord): HeaderCandidate {
  return { line: number, text: filledFields(values).join(' · ') }
}

async function readStart(file: File, encoding: Encoding): Promise<string> {
  const first = await readText(file, encoding).next()
  return String(first.value)
}

function readerOf(format: Format, wrapper: string): RecordReader {
  if (format === 'csv') return new CsvReader({ allowsQuotes: true })
  return format === 'ndjson'
    ? new NdjsonReader()
    : new JsonArrayReader({ ignoresRest: wrapper !== '' })
}

/**
 * Reads the records of a file that have a value.
 *
 * @param firstLine where to begin
 * @param wrapper what precedes a JSON array
 */
async function* readRecords(
  format: Format,
  parts: AsyncIterable<string>,
  firstLine: number,
  wrapper: string,
): AsyncGenerator<FileRecord, void> {
  const reader = readerOf(format, wrapper)
  const before = firstLine - 1
  let isFirst = true
  try {
    for await (const text of parts) {
      const rest = isFirst ? skipLines(text.slice(wrapper.length), before) : text
      isFirst = false
      yield* withValues(reader.read(rest), before)
    }
    yield* withValues(reader.end(), before)
  } catch (error) {
    if (!(error instanceof MalformedFile)) throw error
    const { number, message } = error
    throw new FileProblem(
      `${nounOf(format)} ${number + before}: ${message}. The file cannot be read from there.`,
    )
  }
}

function skipLines(text: string, count: number): string {
  let rest = text
  for (let line = 0; line < count; line++) rest = rest.replace(/^.*?(?:\r\n|\n|\r)/s, '')
  return rest
}

function* withValues(records: Iterable<FileRecord>, before: number): Generator<FileRecord, void> {
  for (const record of records) {
    if (!record.isBlank) yield { ...record, number: record.number + before }
  }
}

/** The columns that the header names. Without one, they have no names. */
function listColumns(
  header: FileRecord | undefined,
  [first]: readonly FileRecord[],
): readonly Column[] {
  const { values } = known(header ?? first)
  return Object.entries(values).map(([key, name]) => ({
    key,
    name: header === undefined ? '' : String(name ?? ''),
  }))
}
function listMembers(records: readonly FileRecord[]): readonly Column[] {
  const names = new Set(records.flatMap(({ values }) => Object.keys(values)))
  return [...names].slice(0, COLUMNS_MAX).map((name) => ({ key: name, name }))
}

async function* withoutFirst(records: AsyncIterable<FileRecord>): AsyncGenerator<FileRecord, void> {
  let isFirst = true
  for await (const record of records) {
    if (!isFirst) yield record
    isFirst = false
  }
}

import { type Format, readers } from '../../../formats/readers.ts'
import { type FileRecord, MalformedFile } from '../../../formats/records.ts'
import { type Column, guessMapping, type Mapping } from './columns.ts'
import {
  detectEncoding,
  detectFormat,
  type Encoding,
  FileProblem,
  nounOf,
  readText,
} from './file-kind.ts'

/** A file that can be imported. */
export interface ImportFile {
  readonly name: string
  readonly size: number
  readonly format: Format
  readonly encoding: Encoding
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
}

const SAMPLE_RECORDS = 8

/** Members that are offered. Objects used as dictionaries can have thousands. */
const COLUMNS_MAX = 100

/**
 * Recognizes the format and the encoding of a file, and reads its columns and first records.
 *
 * @throws FileProblem
 */
export async function openFile(file: File): Promise<ImportFile> {
  const encoding = await detectEncoding(file)
  const format = detectFormat(await readStart(file, encoding))
  const read = (onRead?: (bytes: number) => void) =>
    readRecords(format, readText(file, encoding, onRead))
  const sample: FileRecord[] = []
  for await (const record of read()) {
    sample.push(record)
    if (sample.length > SAMPLE_RECORDS) break
  }
  const header = format === 'csv' ? sample.shift() : undefined
  if (sample.length === 0) {
    const rest = header === undefined ? '' : ', only column names'
    throw new FileProblem(`There are no plants in this file${rest}.`)
  }
  if (format === 'ndjson' && sample.every(({ problem }) => problem !== undefined)) {
    throw new FileProblem('Write the plants as an array in brackets, or one object per line.')
  }
  const columns = header === undefined ? listMembers(sample) : listColumns(header)
  const records = (onRead?: (bytes: number) => void) =>
    header === undefined ? read(onRead) : withoutFirst(read(onRead))
  const guess = guessMapping(columns, sample)
  const { name, size } = file
  return {
    name,
    size,
    format,
    encoding,
    columns,
    guess,
    sample: sample.slice(0, SAMPLE_RECORDS),
    records,
  }
}

async function readStart(file: File, encoding: Encoding): Promise<string> {
  const first = await readText(file, encoding).next()
  return String(first.value)
}

/** Reads the records of a file that have a value. */
async function* readRecords(
  format: Format,
  parts: AsyncIterable<string>,
): AsyncGenerator<FileRecord, void> {
  const reader = new readers[format].Reader()
  try {
    for await (const text of parts) yield* withValues(reader.read(text))
    yield* withValues(reader.end())
  } catch (error) {
    if (!(error instanceof MalformedFile)) throw error
    const { number, message } = error
    throw new FileProblem(
      `${nounOf(format)} ${number}: ${message}. The file cannot be read from there.`,
    )
  }
}

function* withValues(records: Iterable<FileRecord>): Generator<FileRecord, void> {
  for (const record of records) if (!record.isBlank) yield record
}

/** The columns that the first record of a CSV file names. */
function listColumns({ values }: FileRecord): readonly Column[] {
  return Object.entries(values).map(([key, name]) => ({ key, name: String(name ?? '') }))
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

import { type Format, readers } from '../../../formats/readers.ts'
import { MalformedFile, type Row } from '../../../formats/rows.ts'
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
  /** The first rows. */
  readonly sample: readonly Row[]
  /**
   * All rows.
   *
   * @param onRead called with the number of bytes read so far
   * @throws FileProblem
   */
  readonly rows: (onRead?: (bytes: number) => void) => AsyncIterable<Row>
}

const SAMPLE_ROWS = 8

/** Members that are offered. Objects used as dictionaries can have thousands. */
const COLUMNS_MAX = 100

/**
 * Recognizes the format and the encoding of a file, and reads its columns and first rows.
 *
 * @throws FileProblem
 */
export async function openFile(file: File): Promise<ImportFile> {
  const encoding = await detectEncoding(file)
  const format = detectFormat(await readStart(file, encoding))
  const read = (onRead?: (bytes: number) => void) =>
    readRows(format, readText(file, encoding, onRead))
  const sample: Row[] = []
  for await (const row of read()) {
    sample.push(row)
    if (sample.length > SAMPLE_ROWS) break
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
  const rows = (onRead?: (bytes: number) => void) =>
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
    sample: sample.slice(0, SAMPLE_ROWS),
    rows,
  }
}

async function readStart(file: File, encoding: Encoding): Promise<string> {
  const first = await readText(file, encoding).next()
  return first.value as string
}

/** Reads the rows of a file that have a value. */
async function* readRows(format: Format, parts: AsyncIterable<string>): AsyncGenerator<Row, void> {
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

function* withValues(rows: Iterable<Row>): Generator<Row, void> {
  for (const row of rows) if (!row.isBlank) yield row
}

/** The columns that the first row of a CSV file names. */
function listColumns({ values }: Row): readonly Column[] {
  return Object.entries(values).map(([key, name]) => ({ key, name: String(name ?? '') }))
}

function listMembers(rows: readonly Row[]): readonly Column[] {
  const names = new Set(rows.flatMap(({ values }) => Object.keys(values)))
  return [...names].slice(0, COLUMNS_MAX).map((name) => ({ key: name, name }))
}

async function* withoutFirst(rows: AsyncIterable<Row>): AsyncGenerator<Row, void> {
  let isFirst = true
  for await (const row of rows) {
    if (!isFirst) yield row
    isFirst = false
  }
}

import { type Column, guessMapping, type Mapping } from './columns.ts'
import { readCsv } from './csv-rows.ts'
import { detectEncoding, detectKind, type Encoding, type Kind, readText } from './file-kind.ts'
import { readJsonArray, readNdjson } from './json-rows.ts'
import { FileProblem, type Row } from './rows.ts'

/** A file that can be imported. */
export interface ImportFile {
  readonly name: string
  readonly size: number
  readonly kind: Kind
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

const READERS = { csv: readCsv, ndjson: readNdjson, json: readJsonArray } as const

const SAMPLE_ROWS = 8

/** Members that are offered. Objects used as dictionaries can have thousands. */
const COLUMNS_MAX = 100

/**
 * Recognizes the kind and the encoding of a file, and reads its columns and first rows.
 *
 * @throws FileProblem
 */
export async function openFile(file: File): Promise<ImportFile> {
  const encoding = await detectEncoding(file)
  const kind = detectKind(await readStart(file, encoding))
  const read = (onRead?: (bytes: number) => void) => READERS[kind](readText(file, encoding, onRead))
  const sample: Row[] = []
  for await (const row of read()) {
    sample.push(row)
    if (sample.length > SAMPLE_ROWS) break
  }
  const header = kind === 'csv' ? sample.shift() : undefined
  if (sample.length === 0) {
    const rest = header === undefined ? '' : ', only column names'
    throw new FileProblem(`There are no plants in this file${rest}.`)
  }
  if (kind === 'ndjson' && sample.every(({ problem }) => problem !== undefined)) {
    throw new FileProblem('Write the plants as an array in brackets, or one object per line.')
  }
  const columns = header === undefined ? listMembers(sample) : listColumns(header)
  const rows = (onRead?: (bytes: number) => void) =>
    header === undefined ? read(onRead) : withoutFirst(read(onRead))
  const guess = guessMapping(columns, sample)
  const { name, size } = file
  return { name, size, kind, encoding, columns, guess, sample: sample.slice(0, SAMPLE_ROWS), rows }
}

async function readStart(file: File, encoding: Encoding): Promise<string> {
  const first = await readText(file, encoding).next()
  return first.value as string
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

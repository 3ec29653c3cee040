import type { Member } from '../members/members.ts'
import { type Column, guessMapping, listColumns, type Mapping } from './columns.ts'
import {
  type DialectChoices,
  detectDialect,
  HEADER_MAX,
  type Header,
  SAMPLE_RECORDS,
  type TextStart,
  takeRecords,
} from './csv-dialect.ts'
import { CsvReader, type Dialect } from './csv-reader.ts'
import { decodeText, detectEncoding, type Encoding, type TextPart } from './encoding.ts'
import { FileProblem, refuseOtherBytes, refuseOtherText } from './file-kind.ts'
import { type FileRecord, MalformedFile, type RecordReader } from './file-record.ts'
import { counted, type Format } from './formats.ts'
import { findArrays, type NestedArray } from './json-arrays.ts'
import { JsonArrayReader, NdjsonReader } from './json-readers.ts'

/** How to read a file, as far as a person has chosen it. The rest is recognized. */
export interface FileChoices extends DialectChoices {
  readonly format?: Format | undefined
  readonly encoding?: Encoding | undefined
  /** The array of a JSON object that has the plants, such as `data.plants`. */
  readonly array?: string | undefined
  /** The name of a sheet of a workbook. */
  readonly sheet?: string | undefined
}

/** Consecutive records of a file. */
export interface RecordBatch {
  readonly records: readonly FileRecord[]
  /** How many bytes of the file have been read. The last record that they contain can follow in the next batch. */
  readonly endByte: number
}

/** A line of a CSV file or a row of a sheet that may name the columns. */
export interface HeaderCandidate {
  readonly line: number
  readonly text: string
}

/** How a file is read. */
export interface PlantFile {
  readonly format: Format
  readonly encoding: Encoding
  /** Undefined unless the format is CSV. */
  readonly dialect: Dialect | undefined
  /** Undefined unless the file has cells. */
  readonly header: Header | undefined
  /** The first records of a file with cells. */
  readonly candidates: readonly HeaderCandidate[]
  /** The arrays of a JSON object that may have the plants. Empty for other files. */
  readonly arrays: readonly string[]
  readonly array: string | undefined
  /** The names of the sheets of a workbook. Empty for other files. */
  readonly sheets: readonly string[]
  readonly sheet: string | undefined
  /** Whether it probably is an export for a spreadsheet, which has apostrophes before formulas. */
  readonly isEscaped: boolean
  readonly columns: readonly Column[]
  /** Which column probably has which member. */
  readonly guess: Mapping
  /** The first records. */
  readonly sample: readonly FileRecord[]
  /**
   * Reads all records, blank ones too.
   *
   * @param chunks the whole file
   * @throws FileProblem after the records before the fault
   */
  readonly read: (chunks: AsyncIterable<Uint8Array>) => AsyncGenerator<RecordBatch, void>
}

/** How much of a file of text is examined. */
export const START_BYTES = 2 ** 18

/** Columns that are offered. Objects used as dictionaries can have thousands. */
const COLUMNS_MAX = 100

interface Start extends TextStart {
  readonly encoding: Encoding
}

/**
 * Recognizes how a file of text is written, and what its columns are.
 *
 * @param bytes its first START_BYTES
 * @param isWhole whether these are all
 * @param members those of a plant
 * @throws FileProblem
 */
export async function recognizeFile(
  bytes: Uint8Array,
  isWhole: boolean,
  members: readonly Member[],
  choices: FileChoices = {},
): Promise<PlantFile> {
  // An export of no plants is empty.
  if (bytes.length > 0 || choices.format !== 'ndjson') refuseOtherBytes(bytes)
  const start = { ...(await decodeStart(bytes, choices.encoding)), isWhole }
  if (choices.format !== 'csv') refuseOtherText(start.text)
  const chosen = choices.format === 'xlsx' ? undefined : choices.format
  const format = chosen ?? detectFormat(start)
  return format === 'csv'
    ? recognizeCells(start, members, choices)
    : recognizeObjects(format, start, members, choices)
}

/** What files have that are not of a format. */
export const NOTHING = {
  encoding: 'utf-8',
  dialect: undefined,
  header: undefined,
  candidates: [],
  arrays: [],
  array: undefined,
  sheets: [],
  sheet: undefined,
  isEscaped: false,
} as const

function recognizeCells(start: Start, members: readonly Member[], choices: FileChoices): PlantFile {
  const { text, encoding } = start
  const { dialect, header, records } = detectDialect(start, members, choices)
  const hasHeader = header !== 'none'
  const open = () => new CsvReader(dialect)
  const first = takeRecords(open(), start)
  if (hasHeader && first.length === 0 && records.length > 0) {
    throw new FileProblem(`There is no line ${header} with column names in this file.`)
  }
  const sample = hasHeader ? first.slice(1) : first
  const columns = hasHeader ? listColumns(first[0], []) : listColumns(undefined, first.slice(0, 1))
  return {
    ...NOTHING,
    format: 'csv',
    encoding,
    dialect,
    header,
    candidates: records.slice(0, HEADER_MAX).map(toCandidate),
    isEscaped: ESCAPED.test(text) || sample.some(hasEscaped),
    columns,
    sample,
    guess: guessMapping(members, columns, sample),
    read: (chunks) => readBatches('csv', decodeText(chunks, encoding), open(), 0, hasHeader),
  }
}

function recognizeObjects(
  format: 'ndjson' | 'json',
  start: Start,
  members: readonly Member[],
  choices: FileChoices,
): PlantFile {
  const { text, encoding } = start
  const isWrapped = format === 'json' && !/^\s*\[/.test(text)
  const arrays = isWrapped ? findArrays(text) : []
  const array = isWrapped ? chooseArray(arrays, choices.array) : undefined
  const skipped = array?.start ?? 0
  const firstLine = text.slice(0, skipped).split('\n').length
  const open = () =>
    format === 'ndjson'
      ? new NdjsonReader()
      : new JsonArrayReader({ ignoresRest: isWrapped, firstLine })
  // Objects can have members that the first ones lack.
  const records = takeRecords(open(), { ...start, text: text.slice(skipped) }, text.length)
  const [first] = records
  if (first !== undefined && records.every(({ problem }) => problem !== undefined)) {
    throw new FileProblem(`${describeFirst(format, first)} ${EXPECTED_JSON}`)
  }
  const columns = listMembers(records)
  const sample = records.slice(0, SAMPLE_RECORDS)
  return {
    ...NOTHING,
    format,
    encoding,
    arrays: arrays.map(({ path }) => path),
    array: array?.path,
    columns,
    sample,
    guess: guessMapping(members, columns, sample),
    read: (chunks) => readBatches(format, decodeText(chunks, encoding), open(), skipped, false),
  }
}

/** @throws FileProblem if there is no such array */
function chooseArray(arrays: readonly NestedArray[], chosen: string | undefined): NestedArray {
  const array = chosen === undefined ? arrays[0] : arrays.find(({ path }) => path === chosen)
  if (array !== undefined) return array
  if (arrays.length === 0) throw new FileProblem(NO_ARRAY)
  const paths = arrays.map(({ path }) => path).join(', ')
  throw new FileProblem(`There is no array of that name in this file. Its arrays are ${paths}.`)
}

const EXPECTED_JSON =
  'Write the plants as an array of objects such as [{"id": 1, "name": "Abies alba"}], or one object per line.'

const NO_ARRAY = `This is one JSON object without an array of objects. ${EXPECTED_JSON}`

function describeFirst(format: Format, { number, problem }: FileRecord): string {
  return `${nounOf(format)} ${number}: the ${problem}.`
}

/** Says where a file cannot be read any further, and why. */
export function toProblem(format: Format, { number, message }: MalformedFile): FileProblem {
  return new FileProblem(
    `${nounOf(format)} ${number}: ${message}. The file cannot be read from there.`,
  )
}

/** What the number of a record counts, at the start of a sentence. */
export function nounOf(format: Format): string {
  return counted[format].replace(/^./, (letter) => letter.toUpperCase())
}

/** The first lines of an export for a spreadsheet, which has quotes around text that needs none. */
const ESCAPED = /^id([,;\t])name\b.*\r?\n-?\d+\1"[^",;\t\r\n]*"/

/** Whether a record has an apostrophe before what could be a formula. */
export function hasEscaped({ values }: FileRecord): boolean {
  return Object.values(values).some((field) => /^'\s*[=+\-@＝＋－＠]/.test(String(field)))
}

export function toCandidate({ number, values }: FileRecord): HeaderCandidate {
  const filled = Object.values(values).filter((field) => String(field ?? '').trim() !== '')
  return { line: number, text: filled.join(' · ') }
}

/** Decodes the start of a file in the encoding that is chosen or recognized. */
async function decodeStart(bytes: Uint8Array, chosen: Encoding | undefined) {
  const encoding = chosen ?? detectEncoding(bytes)
  const text = await decode(bytes, encoding)
  // JSON is UTF-8, so that a byte which is not costs a record (RFC 8259 §8.1).
  const isJson = encoding === 'windows-1252' && /^\s*[[{]/.test(text)
  if (chosen !== undefined || !isJson) return { text, encoding }
  return { text: await decode(bytes, 'utf-8'), encoding: 'utf-8' as const }
}

async function decode(bytes: Uint8Array, encoding: Encoding): Promise<string> {
  async function* once() {
    yield bytes
  }
  // What follows the last complete character is not text yet.
  const [first] = await Array.fromAsync(decodeText(once(), encoding))
  return first?.text ?? ''
}

/**
 * Recognizes the format of text. A file name does not say whether JSON is an array.
 *
 * @throws FileProblem if it is JSON without plants
 */
function detectFormat({ text, isWhole }: Start): Exclude<Format, 'xlsx'> {
  const [first] = text.trimStart()
  if (first === '[') return 'json'
  if (first !== '{') return 'csv'
  const [line = '', ...others] = text.trimStart().split('\n', HEADER_MAX)
  const hasOthers = others.some((other) => other.trim() !== '')
  if (hasOthers && isRecord(line)) return 'ndjson'
  if (isPlant(line)) return 'ndjson'
  if (findArrays(text).length > 0) return 'json'
  const isLong = others.length === 0 && !isWhole
  if (others.some(isRecord) || (!hasOthers && hasValues(line)) || isLong) return 'ndjson'
  throw new FileProblem(NO_ARRAY)
}

function isRecord(line: string): boolean {
  return parseObject(line) !== undefined
}

/** Whether a line has an object with the members that every plant has, whatever its others. */
function isPlant(line: string): boolean {
  const values = new Map(Object.entries(parseObject(line) ?? {}))
  return ['id', 'name'].every((name) => ['number', 'string'].includes(typeof values.get(name)))
}

/** Whether a line has an object with a member other than an object or array. */
function hasValues(line: string): boolean {
  return Object.values(parseObject(line) ?? {}).some((value) => typeof value !== 'object')
}

function parseObject(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line.replace(/,\s*$/, ''))
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** Reads all records after the header. */
async function* readBatches(
  format: Format,
  parts: AsyncIterable<TextPart>,
  reader: RecordReader,
  skipped: number,
  hasHeader: boolean,
): AsyncGenerator<RecordBatch, void> {
  let toSkip = skipped
  let isHeader = hasHeader
  let end = 0
  function* toBatches(read: () => Iterable<FileRecord>): Generator<RecordBatch, void> {
    const records: FileRecord[] = []
    let problem: FileProblem | undefined
    try {
      for (const record of read()) {
        if (isHeader && !record.isBlank) isHeader = false
        else records.push(record)
      }
    } catch (error) {
      if (!(error instanceof MalformedFile)) throw error
      problem = toProblem(format, error)
    }
    yield { records, endByte: end }
    if (problem !== undefined) throw problem
  }
  for await (const { text, endByte } of parts) {
    const rest = text.slice(toSkip)
    toSkip -= text.length - rest.length
    end = endByte
    yield* toBatches(() => reader.read(rest))
  }
  yield* toBatches(() => reader.end())
}

/** The members of JSON records, and those of the objects in them. */
function listMembers(sample: readonly FileRecord[]): readonly Column[] {
  const names = new Set(
    sample.flatMap(({ values }) =>
      Object.entries(values)
        .filter(([, value]) => typeof value !== 'object' || value === null)
        .map(([name]) => name),
    ),
  )
  return [...names]
    .slice(0, COLUMNS_MAX)
    .map((key) => ({ key, name: key.replace(/^[^.]+\./, ''), label: key }))
}

import type { Member } from '../members/members.ts'
import { isNamed } from './columns.ts'
import { CsvReader, type Dialect, type Quote, type Separator } from './csv-reader.ts'
import { type FileRecord, MalformedFile, type RecordReader } from './file-record.ts'

/** The line that names the columns. */
export type Header = number | 'none'

/** How to read a file of cells, as far as a person has chosen it. */
export interface DialectChoices {
  readonly separator?: Separator | undefined
  readonly quote?: Quote | undefined
  readonly header?: Header | undefined
}

/** The separators that are recognized, those first that are rarer in names. Asterisks come last. */
const SEPARATORS = ['\t', '|', ';', ','] as const

const RARE_SEPARATOR = '*'

/** How many records are compared to find the separator and the header. */
export const SAMPLE_RECORDS = 200

/** The header is looked for in so many records, because a title or the names of people can precede it. */
export const HEADER_MAX = 30

/** A first line such as `sep=;` names the separator, as in Excel. */
const SEPARATOR_LINE = /^"?sep=(\t|[^\w"'\s])"?[\t ,;]*(?:\r\n|\r|\n|$)/i

/** The start of a file, decoded. */
export interface TextStart {
  readonly text: string
  /** Whether that is the whole file. */
  readonly isWhole: boolean
}

/** How a file is written, and its first records. */
export interface DetectedDialect {
  readonly dialect: Dialect
  readonly header: Header
  /** Before the header too. */
  readonly records: readonly FileRecord[]
}

/**
 * Recognizes how a file of cells is written: the separator by what most records agree on, and the header by the names of
 * members.
 *
 * @param start the start of the text, without a byte order mark, and whether that is all
 */
export function detectDialect(
  start: TextStart,
  members: readonly Member[],
  choices: DialectChoices = {},
): DetectedDialect {
  const { text } = start
  const [line, named] = SEPARATOR_LINE.exec(text) ?? []
  const hasReturnsOnly = !text.includes('\n') && text.includes('\r')
  const read = (separator: Separator, quote: Quote): Candidate => {
    const firstLine = line === undefined ? 1 : 2
    const dialect: Dialect = { separator, quote, hasReturnsOnly, firstLine }
    return describe(dialect, takeRecords(new CsvReader(dialect), start), members)
  }
  const chosen = choices.separator ?? named
  const quote = choices.quote ?? guessQuote(text)
  const candidates = (chosen === undefined ? SEPARATORS : [chosen]).map((each) => read(each, quote))
  // As in the files of GBIF.
  if (choices.quote === undefined && (chosen ?? '\t') === '\t') candidates.push(read('\t', ''))
  const otherwise = () =>
    chosen === undefined
      ? (best([read(RARE_SEPARATOR, quote)]) ?? read('', quote))
      : read(chosen, quote)
  const { dialect, records, width } = best(candidates) ?? otherwise()
  const header = choices.header ?? guessHeader(records, width, members)
  const firstLine = header === 'none' ? dialect.firstLine : header
  return { dialect: { ...dialect, ...(firstLine !== undefined && { firstLine }) }, header, records }
}

/** A way to read a file. */
interface Candidate {
  readonly dialect: Dialect
  readonly records: readonly FileRecord[]
  /** How many fields most records have. */
  readonly width: number
  /** How many members a record near the start names: zero if it is one, which can be chance, infinity in an export. */
  readonly named: number
  /** How well the records agree. Zero if they do not. */
  readonly score: number
}

/** The candidate whose records agree best, if those of any do. */
function best(candidates: readonly Candidate[]): Candidate | undefined {
  let found: Candidate | undefined
  for (const each of candidates) {
    const { named, score } = found ?? { named: 0, score: 0 }
    // Names and other text can have separators as regularly as rows.
    if (each.named > named || (each.named === named && each.score > score)) found = each
  }
  return found
}

/**
 * Reads the first records that are not blank.
 *
 * @param start only the last record of a part of a file can be incomplete
 */
export function takeRecords(
  reader: RecordReader,
  { text, isWhole }: TextStart,
  count = SAMPLE_RECORDS,
): readonly FileRecord[] {
  const records: FileRecord[] = []
  const parts = [() => reader.read(text), ...(isWhole ? [() => reader.end()] : [])]
  try {
    for (const part of parts) {
      for (const record of part()) {
        if (!record.isBlank && records.push(record) === count) return records
      }
    }
  } catch (error) {
    // It is reported when the file is read.
    if (!(error instanceof MalformedFile)) throw error
  }
  return records
}

/** Double quotes, unless the first fields are in single ones. */
function guessQuote(text: string): Quote {
  return /^\s*'[^'\r\n]*'\s*[,;|\t]\s*'/.test(text) ? "'" : '"'
}

/** Finds the header of a sheet. */
export function findHeader(records: readonly FileRecord[], members: readonly Member[]): Header {
  return guessHeader(records, commonWidth(records).width, members)
}

/** How many fields most of the records with more than one field have, and how many records do. */
function commonWidth(records: readonly FileRecord[]) {
  const widths = records.map(({ values }) => Object.keys(values).length)
  const counts = new Map<number, number>()
  for (const width of widths) counts.set(width, (counts.get(width) ?? 0) + 1)
  const wide = [...counts].filter(([width]) => width > 1)
  // The wider ones of two that are as frequent: titles are narrow.
  wide.sort(([a, one], [b, other]) => other - one || b - a)
  const [width = 1, count = 0] = wide[0] ?? []
  return { width, count, first: widths.indexOf(width) }
}

/** Records of more than one field agree on their number, from one of the first ones on. */
function describe(
  dialect: Dialect,
  records: readonly FileRecord[],
  members: readonly Member[],
): Candidate {
  const { length } = records
  const { width, count, first } = commonWidth(records)
  const isEnough = count >= Math.min(3, length) || count >= length / 2
  const share = isEnough && first < HEADER_MAX ? count / (length - first) : 0
  const faults = records.filter(({ isMalformed }) => isMalformed).length
  const isRegular = faults <= length / 2
  // Quotes are read as such unless that causes faults.
  const quality = dialect.quote === '' ? 0.9 : 1 - faults / Math.max(length, 1)
  const most = Math.max(0, ...records.slice(0, HEADER_MAX).map((each) => countNames(each, members)))
  const named = isOwnHeader(records[0], members) ? Number.POSITIVE_INFINITY : most > 1 ? most : 0
  const score = isRegular ? share * share * quality * (width - 1) : 0
  return { dialect, records, width, named, score }
}

/**
 * The first record with the most names of members, or the first one with as many fields as most. Unless it has several
 * names, there is no header if it has a number where the next record has one too, or if there is only one column, without
 * a name.
 */
function guessHeader(
  records: readonly FileRecord[],
  width: number,
  members: readonly Member[],
): Header {
  const first = records.slice(0, HEADER_MAX)
  const [own] = first
  if (own !== undefined && isOwnHeader(own, members)) return own.number
  const cells = first.map(({ values }) => Object.values(values).map((cell) => String(cell ?? '')))
  const named = first.map((each) => countNames(each, members))
  const most = Math.max(...named)
  const isWide = (each: readonly string[]) =>
    each.length === width && each.filter((cell) => cell.trim() !== '').length > width / 2
  const index = most > 0 ? named.indexOf(most) : cells.findIndex(isWide)
  const [header = [], next = []] = cells.slice(Math.max(index, 0))
  const hasNumbers =
    most < 2 && header.some((cell, at) => isNumber(cell) && isNumber(next[at] ?? cell))
  const line = first[Math.max(index, 0)]?.number ?? 1
  return hasNumbers || (width === 1 && most === 0) ? 'none' : line
}

/** Whether a record is the header of an export, so that names among its plants are none. */
function isOwnHeader(record: FileRecord | undefined, members: readonly Member[]): boolean {
  const cells = Object.values(record?.values ?? {})
  return cells.length > 1 && cells.every((cell) => members.some(({ name }) => name === cell))
}

/** How many cells of a record are the names of members. */
function countNames({ values }: FileRecord, members: readonly Member[]): number {
  return Object.values(values).filter((cell) => isNamed(members, String(cell ?? ''))).length
}

function isNumber(text: string): boolean {
  return /^\s*-?\d+([.,]\d+)?\s*$/.test(text)
}

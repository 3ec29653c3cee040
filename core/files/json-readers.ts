import { exactDecimal } from '../json/decimal.ts'
import { INEXACT, SAFE_LENGTH, toInt64 } from '../json/int64.ts'
import { known } from '../known.ts'
import {
  type FileRecord,
  InexactNumber,
  MalformedFile,
  NOT_UTF8,
  RECORD_LENGTH_MAX,
  type RecordReader,
  TOO_LONG,
} from './file-record.ts'

/** Reads newline-delimited JSON (https://github.com/ndjson/ndjson-spec). Skips blank lines. */
export class NdjsonReader implements RecordReader {
  /** What there is of the line that has not ended yet. Only the start of a line that is too long is kept. */
  #line = ''
  #number = 0

  #append(part: string): void {
    if (this.#line.length <= RECORD_LENGTH_MAX) this.#line += part
  }

  *read(text: string): Generator<FileRecord, void> {
    const parts = text.split('\n')
    const last = known(parts.pop())
    for (const part of parts) {
      this.#append(part)
      yield* this.#endLine()
    }
    this.#append(last)
  }

  *end(): Generator<FileRecord, void> {
    for (const record of this.#endLine()) {
      const isCutOff = record.isMalformed
      yield isCutOff
        ? { ...record, problem: `${record.problem}; the input ends within this line` }
        : record
    }
  }

  *#endLine(): Generator<FileRecord, void> {
    // Programs that write an array without its brackets end lines with commas.
    const line = this.#line.replace(/\},\s*$/, '}')
    this.#line = ''
    this.#number += 1
    if (line.length > RECORD_LENGTH_MAX) {
      yield { number: this.#number, values: {}, problem: TOO_LONG }
    } else if (line.trim() !== '') {
      yield parseRecord(this.#number, line)
    }
  }
}

export interface ArrayOptions {
  /** Whether text that follows the array is ignored, such as the end of the object that contains it. */
  readonly ignoresRest?: boolean
  /** The line of the bracket. */
  readonly firstLine?: number
}

/**
 * Reads the items of a JSON array one by one, so that a large one needs little memory. The file must start with a
 * bracket. Reading ends at an item whose brackets do not match.
 */
export class JsonArrayReader implements RecordReader {
  readonly #splitter = new ArraySplitter()
  readonly #ignoresRest: boolean
  #number = 0
  /** The line that the next item starts on, or whitespace before it. */
  #line: number

  constructor({ ignoresRest = false, firstLine = 1 }: ArrayOptions = {}) {
    this.#line = firstLine
    this.#ignoresRest = ignoresRest
  }

  end(): readonly FileRecord[] {
    if (this.#splitter.hasEnded) return []
    throw new MalformedFile(this.#number + 1, 'the file ends within the array')
  }

  *read(text: string): Generator<FileRecord, void> {
    for (const item of this.#splitter.split(text)) {
      this.#number += 1
      if (item.length > RECORD_LENGTH_MAX) throw new MalformedFile(this.#number, TOO_LONG)
      const line = this.#line + countLines(/^\s*/.exec(item)?.[0] ?? '')
      this.#line += countLines(item)
      const record = parseRecord(this.#number, item, line)
      if (record.isMalformed && !isBalanced(item)) {
        throw new MalformedFile(this.#number, known(record.problem))
      }
      yield record
    }
    const { length, hasRest } = this.#splitter
    const next = this.#number + 1
    if (length > RECORD_LENGTH_MAX) throw new MalformedFile(next, TOO_LONG)
    if (hasRest && !this.#ignoresRest)
      throw new MalformedFile(next, 'expected the end of the file after the array')
  }
}

/** Splits a JSON array into its items, without checking that they are JSON. */
class ArraySplitter {
  /** What there is of the item that has not ended yet. */
  #item = ''
  /** Arrays and objects that are open. */
  #depth = 0
  #isInString = false
  /** Whether the last character was a backslash, which escapes the next one. */
  #isEscaped = false
  #isFirst = true
  /** Whether the array has ended. */
  hasEnded = false
  /** Whether anything but whitespace follows the array. */
  hasRest = false

  /** That of the item so far. */
  get length(): number {
    return this.#item.length
  }

  /** Yields the items that end within a part of the text. */
  *split(text: string): Generator<string, void> {
    let start = 0
    let at = this.#isEscaped ? 1 : 0
    while (!this.hasEnded) {
      const special = this.#isInString ? IN_STRING : OUTSIDE
      special.lastIndex = at
      const found = special.exec(text)
      if (found === null) break
      const { 0: character, index } = found
      at = index + 1
      if (character === '\\') {
        at += 1
      } else if (character === '"') {
        this.#isInString = !this.#isInString
      } else if ('[{'.includes(character)) {
        this.#depth += 1
        if (this.#depth === 1) start = at
      } else if (character !== ',') {
        this.#depth -= 1
        this.hasEnded = this.#depth === 0
      }
      const isEnd = this.hasEnded || (character === ',' && this.#depth === 1)
      if (!isEnd) continue
      // A brace cannot end the array, and makes the item invalid.
      const item = this.#item + text.slice(start, character === '}' ? at : index)
      const isEmptyArray = this.hasEnded && this.#isFirst && item.trim() === ''
      this.#item = ''
      this.#isFirst = false
      start = at
      if (!isEmptyArray) yield item
    }
    this.#isEscaped = at > text.length
    if (this.hasEnded) this.hasRest = text.slice(start).trim() !== ''
    else if (this.#depth > 0) this.#item += text.slice(start)
  }
}

/** Characters with a meaning within a string. */
const IN_STRING = /["\\]/g

/** Characters with a meaning outside strings. */
const OUTSIDE = /["[\]{},]/g

const NOT_JSON = 'record is not valid JSON'

function parseRecord(number: number, json: string, line?: number): FileRecord {
  if (!json.isWellFormed()) return { number, values: {}, problem: NOT_UTF8 }
  let record: unknown
  try {
    record = parseExact(json)
  } catch (error) {
    const where = line === undefined ? '' : ` (line ${line})`
    const problem = `${NOT_JSON}${where}: ${explainSyntax(json, error as Error)}`
    return { number, values: {}, problem, isMalformed: true }
  }
  if (!isObject(record)) return { number, values: {}, problem: 'record is not an object in braces' }
  return { number, values: withNested(record) }
}

/** What people and programs write that is not JSON. */
const MISTAKES: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/\/[/*]/, 'JSON has no comments; remove them'],
  [/\b(?:NaN|Infinity)\b/, 'JSON has no NaN or Infinity; write null'],
  [/,\s*[}\]]|^\s*$/, 'a comma must not precede a closing bracket; remove it'],
]

function explainSyntax(json: string, { message }: Error): string {
  const text = withoutStrings(json)
  const mistake = MISTAKES.find(([pattern]) => pattern.test(text))
  return mistake?.[1] ?? message.replace(/ \(line \d+ column \d+\)$/, '')
}

function withoutStrings(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*(?:"|$)/gs, '""')
}

/** Whether the brackets of an item match, so that the next one is where it seems to be. */
function isBalanced(item: string): boolean {
  const open: string[] = []
  for (const [bracket] of withoutStrings(item).matchAll(/[[\]{}]/g)) {
    if (bracket === '[' || bracket === '{') open.push(bracket)
    else if (open.pop() !== (bracket === ']' ? '[' : '{')) return false
  }
  return open.length === 0
}

/** A record with the members of its objects too, such as `fields.name`. */
function withNested(record: Members): Members {
  let nested: Members | undefined
  for (const name of Object.keys(record)) {
    const value = record[name]
    if (typeof value !== 'object' || !isObject(value) || value instanceof InexactNumber) continue
    nested ??= { ...record }
    for (const [inner, each] of Object.entries(value)) nested[`${name}.${inner}`] = each
  }
  return nested ?? record
}

function countLines(text: string): number {
  return text.split('\n').length - 1
}

type Members = Record<string, unknown>

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Finds numbers that a double may not hold exactly. It also finds other text, which only takes longer. */
const LONG = new RegExp(`[\\d.]{${SAFE_LENGTH + 1}}|\\d[eE]`)

/** Parses a record. The numbers of its members are exact, whatever their names. */
function parseExact(json: string): unknown {
  // A reviver makes parsing three times as expensive.
  if (LONG.test(json)) return JSON.parse(json, toExact)
  const record: unknown = JSON.parse(json)
  if (!isObject(record)) return record
  makeExact(record)
  for (const value of Object.values(record)) if (isObject(value)) makeExact(value)
  return record
}

function makeExact(members: Members): void {
  for (const name of Object.keys(members)) {
    const value = members[name]
    if (typeof value === 'number' && Number.isInteger(value)) members[name] = BigInt(value)
  }
}

/** TypeScript does not declare the parameter `context` yet. */
type Context = { readonly source?: string }

function toExact(_name: string, value: unknown, context?: Context): unknown {
  if (typeof value !== 'number') return value
  const source = String(context?.source)
  const integer = toInt64(source)
  if (integer !== undefined) return integer
  return exactDecimal(source) === INEXACT ? new InexactNumber(source) : value
}

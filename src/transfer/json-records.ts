import { setImmediate } from 'node:timers/promises'
import { NEWLINE, OPENING_BRACKET } from '../../contract/bytes.ts'
import { endOfSpace, type InvalidJson, parseExactJson } from '../../contract/exact-json.ts'
import { ConfigError } from '../config/config.ts'
import {
  ENDS_WITHIN,
  type ParsedRecord,
  RECORD_BYTES_MAX,
  type ReadOptions,
  type RecordBatch,
  recordValidator,
  TOO_LARGE,
  withoutByteOrderMark,
} from './record.ts'
import { describeUnknown, isField, NAMES_MAX } from './unknown-fields.ts'

/** The largest file with a JSON array, because it is read as a whole: about 500,000 plants. */
export const ARRAY_BYTES_MAX = 2 ** 25

/** Follows the reason why the first line is invalid, if it starts like an array. */
const ARRAY_HINT = '; use --format json if the file is a JSON array'

/** Items of an array between two turns of the event loop, in which a signal is noticed. */
const BATCH_ITEMS = 1000

type Parsed = Omit<ParsedRecord, 'number'>

/** Reads newline-delimited JSON (https://github.com/ndjson/ndjson-spec). Skips blank lines. */
export async function* readNdjson(
  chunks: AsyncIterable<Buffer>,
  options: ReadOptions,
): AsyncGenerator<RecordBatch, void> {
  const parsePlant = plantParser(options)
  let number = 0
  let isFirst = true
  function parseLine(line: Line): ParsedRecord | undefined {
    number += 1
    const json = number === 1 ? withoutByteOrderMark(line.bytes) : line.bytes
    const start = json[endOfSpace(json, 0)]
    if (start === undefined && !line.isTooLarge) return undefined
    const parsed = parse(json, line)
    const isArray = isFirst && start === OPENING_BRACKET
    isFirst = false
    return { number, ...(isArray ? { result: `${parsed.result}${ARRAY_HINT}` } : parsed) }
  }
  function parse(json: Buffer, { isTooLarge, isComplete }: Line): Parsed {
    if (isTooLarge) return { result: TOO_LARGE }
    try {
      return parsePlant(parseExactJson(json, { what: 'record', keepNames: true }))
    } catch (error) {
      const { message } = error as InvalidJson
      return { result: isComplete ? message : `${message}; ${ENDS_WITHIN}` }
    }
  }
  for await (const { lines, position } of readLines(chunks)) {
    yield { records: lines.flatMap((line) => parseLine(line) ?? []), position }
  }
}

interface Line {
  /** Without its newline; only the start of a line that is too large. */
  readonly bytes: Buffer
  readonly isTooLarge: boolean
  /** Whether the line ends with a newline. */
  readonly isComplete: boolean
}

/** Splits a file into lines, a chunk at a time. */
async function* readLines(
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<{ lines: Line[]; position: number }, void> {
  let position = 0
  let parts: Buffer[] = []
  let length = 0
  const append = (part: Buffer) => {
    length += part.length
    if (length <= RECORD_BYTES_MAX) parts.push(part)
  }
  const endLine = (isComplete: boolean): Line => {
    const line = { bytes: Buffer.concat(parts), isTooLarge: length > RECORD_BYTES_MAX, isComplete }
    parts = []
    length = 0
    return line
  }
  for await (const chunk of chunks) {
    const lines: Line[] = []
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      append(chunk.subarray(start, end))
      lines.push(endLine(true))
      start = end + 1
    }
    append(chunk.subarray(start))
    position += chunk.length
    yield { lines, position: position - length }
  }
  yield { lines: [endLine(false)], position }
}

/** Reads a JSON array, such as a response to `GET /plants`, as a whole. */
export async function* readJsonArray(
  chunks: AsyncIterable<Buffer>,
  options: ReadOptions,
): AsyncGenerator<RecordBatch, void> {
  const parsePlant = plantParser(options)
  const file = await readWhole(chunks)
  const items = parseArray(file)
  for (let start = 0; start < items.length; start += BATCH_ITEMS) {
    const batch = items.slice(start, start + BATCH_ITEMS)
    const records = batch.map((item, index) => ({
      number: start + index + 1,
      ...parsePlant(item),
    }))
    yield { records, position: Math.round((file.length * (start + batch.length)) / items.length) }
    await setImmediate()
    options.signal?.throwIfAborted()
  }
}

async function readWhole(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    parts.push(chunk)
    length += chunk.length
    if (length > ARRAY_BYTES_MAX) {
      throw new ConfigError(
        `a JSON array must not exceed ${ARRAY_BYTES_MAX} bytes; convert it to NDJSON, which has no limit, for example with jq -c '.[]'`,
      )
    }
  }
  return withoutByteOrderMark(Buffer.concat(parts, length))
}

function parseArray(file: Buffer): readonly unknown[] {
  if (file[endOfSpace(file, 0)] !== OPENING_BRACKET) {
    throw new ConfigError(
      'the file must contain a JSON array; use --format ndjson if it has one object per line',
    )
  }
  try {
    return parseExactJson(file, { what: 'the file', keepNames: true }) as unknown[]
  } catch (error) {
    throw new ConfigError((error as InvalidJson).message)
  }
}

/** Returns a function that turns a JSON value into a plant, or says why it cannot. */
function plantParser({ refuseMembers = false }: ReadOptions): (value: unknown) => Parsed {
  const validate = recordValidator()
  return (value) => {
    const result = validate(value)
    if (typeof result === 'string') return { result }
    const names = Object.keys(value as object).filter((name) => !isField(name))
    if (names.length === 0) return { result }
    const unknown = names.slice(0, NAMES_MAX)
    if (!refuseMembers) return { result, ignored: unknown }
    const properties = unknown.length === 1 ? 'property' : 'properties'
    return { result: `unknown ${properties} ${unknown.map(describeUnknown).join(', ')}` }
  }
}

import { plantMembers } from '../../core/contract/contract.ts'
import { type FileRecord, InexactNumber, MalformedFile } from '../../core/files/file-record.ts'
import { type Format, readers } from '../../core/files/readers.ts'
import { exactDecimal } from '../../core/json/decimal.ts'
import { INEXACT } from '../../core/json/int64.ts'
import { type Member, type MemberType, ownValue } from '../../core/members/members.ts'
import { FileError } from '../system/user-errors.ts'
import { CsvRecords } from './csv-records.ts'
import { decodeUtf8 } from './decode.ts'
import { type ParsedRecord, type ReadOptions, type RecordBatch, recordValidator } from './record.ts'
import { describeUnknown, NAMES_MAX } from './unknown-fields.ts'

/** Parses the records of a file. */
interface Records {
  read(records: Iterable<FileRecord>): Iterable<ParsedRecord>
  end(): void
}

/**
 * Reads the records of a file as its bytes arrive. The last record needs no newline.
 *
 * @throws FileError if the file's header or its structure is invalid, after the records before the fault; and the
 *   errors of `chunks`
 */
export async function* readRecords(
  format: Format,
  chunks: AsyncIterable<Buffer>,
  options: ReadOptions,
): AsyncGenerator<RecordBatch, void> {
  const { Reader, counted } = readers[format]
  const reader = new Reader()
  const records: Records = format === 'csv' ? new CsvRecords(options) : new JsonRecords(options)
  /** The first character that is not whitespace. */
  let first: string | undefined
  let end = 0
  /** Yields the records that end within a part of the file, up to one that is malformed. */
  function* toBatches(read: () => Iterable<FileRecord>): Generator<RecordBatch, void> {
    const batch: ParsedRecord[] = []
    try {
      for (const record of records.read(read())) batch.push(record)
    } catch (error) {
      if (!(error instanceof MalformedFile)) throw error
      const { number, message } = error
      yield { records: [...batch, { number, result: message }], endByte: end }
      throw new FileError(
        `reading ended at ${counted} ${number}: correct it and import the file again`,
      )
    }
    yield { records: batch, endByte: end }
  }
  for await (const { text, endByte } of decodeUtf8(chunks)) {
    first ??= text.trimStart()[0]
    if (first !== undefined) assertFormat(format, first)
    end = endByte
    yield* toBatches(() => reader.read(text))
  }
  assertFormat(format, first)
  yield* toBatches(() => reader.end())
  records.end()
}

/** @throws FileError if a file is obviously in the other JSON format, given its first character */
function assertFormat(format: Format, first: string | undefined): void {
  if (format === 'json' && first !== '[') {
    throw new FileError(
      'the file must contain a JSON array; use --format ndjson if it has one object per line',
    )
  }
  if (format === 'ndjson' && first === '[') {
    throw new FileError(
      'the file must have one JSON object per line; use --format json if it is a JSON array',
    )
  }
}

class JsonRecords {
  readonly #members: readonly Member[]
  readonly #names: ReadonlySet<string>
  readonly #refuseMembers: boolean
  readonly #validate: ReturnType<typeof recordValidator>

  constructor({ contract, refuseMembers = false }: ReadOptions) {
    this.#members = plantMembers(contract)
    this.#names = new Set(this.#members.map(({ name }) => name))
    this.#refuseMembers = refuseMembers
    this.#validate = recordValidator(contract)
  }

  *read(records: Iterable<FileRecord>): Generator<ParsedRecord, void> {
    for (const record of records) yield this.#parse(record)
  }

  end(): void {}

  #parse({ number, values, problem }: FileRecord): ParsedRecord {
    if (problem !== undefined) return { number, result: problem }
    const result = this.#validate(this.#pickMembers(values))
    if (typeof result === 'string') return { number, result }
    const names = Object.keys(values).filter((name) => !this.#names.has(name))
    if (names.length === 0) return { number, result }
    const unknown = names.slice(0, NAMES_MAX)
    if (!this.#refuseMembers) return { number, result, ignored: unknown }
    const properties = unknown.length === 1 ? 'property' : 'properties'
    const list = unknown.map((name) => describeUnknown(name, this.#members)).join(', ')
    return { number, result: `unknown ${properties} ${list}` }
  }

  /** The members of a plant among the values of a record, as a parser of `prepareParser` would read them. */
  #pickMembers(values: FileRecord['values']): object {
    const picked: Record<string, unknown> = {}
    for (const { name, type } of this.#members) {
      const value = ownValue(values, name)
      if (value !== undefined) picked[name] = toParsed(value, type)
    }
    return picked
  }
}

function toParsed(value: unknown, type: MemberType): unknown {
  if (value instanceof InexactNumber) return INEXACT
  return typeof value === 'bigint' && type === 'number' ? exactDecimal(String(value)) : value
}

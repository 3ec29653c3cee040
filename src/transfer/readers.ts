import { INEXACT } from '../../contract/int64.ts'
import { members } from '../../contract/members.gen.ts'
import { type Format, readers } from '../../formats/readers.ts'
import { type FileRecord, MalformedFile } from '../../formats/records.ts'
import { FileError } from '../system/errors.ts'
import { CsvRecords } from './csv-records.ts'
import { decodeUtf8 } from './decode.ts'
import { type ParsedRecord, type ReadOptions, type RecordBatch, recordValidator } from './record.ts'
import { describeUnknown, isMember, NAMES_MAX } from './unknown-fields.ts'

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
  readonly #refuseMembers: boolean
  readonly #validate = recordValidator()

  constructor({ refuseMembers = false }: ReadOptions) {
    this.#refuseMembers = refuseMembers
  }

  *read(records: Iterable<FileRecord>): Generator<ParsedRecord, void> {
    for (const record of records) yield this.#parse(record)
  }

  end(): void {}

  #parse({ number, values, problem }: FileRecord): ParsedRecord {
    if (problem !== undefined) return { number, result: problem }
    const result = this.#validate(toExact(values))
    if (typeof result === 'string') return { number, result }
    const names = Object.keys(values).filter((name) => !isMember(name))
    if (names.length === 0) return { number, result }
    const unknown = names.slice(0, NAMES_MAX)
    if (!this.#refuseMembers) return { number, result, ignored: unknown }
    const properties = unknown.length === 1 ? 'property' : 'properties'
    const list = unknown.map(describeUnknown).join(', ')
    return { number, result: `unknown ${properties} ${list}` }
  }
}

/** The members of a plant among the values of a record, as `prepareParser` would read them. */
function toExact(values: FileRecord['values']): object {
  const exact = members.map(({ name, type }) => {
    const { [name]: value } = values
    // A number that is an int64 would be a bigint.
    return [name, type === 'int64' && typeof value === 'number' ? INEXACT : value]
  })
  return Object.fromEntries(exact)
}

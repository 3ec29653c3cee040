import { members } from '../../contract/members.gen.ts'
import { readText } from '../../contract/members.ts'
import { CSV_HEADER } from '../../formats/record-formats.ts'
import type { FileRecord } from '../../formats/records.ts'
import { FileError } from '../system/errors.ts'
import { type ParsedRecord, type ParseResult, type ReadOptions, recordValidator } from './record.ts'
import { describeUnknown, isMember, listNames, NAMES_MAX, quote } from './unknown-fields.ts'

/** The header has columns other than those of a plant, whose data would be lost. */
export class UnknownColumns extends FileError {}

const CUT_OFF = 'the input ends within this line; end it with a newline if it is complete'

/** The key in `FileRecord.values` of each column, by its name. */
type Columns = ReadonlyMap<string, string>

/** Parses the records of a CSV file. The first one that is not blank names the columns. */
export class CsvRecords {
  readonly #options: ReadOptions
  readonly #validate = recordValidator()
  #columns: Columns | undefined

  constructor(options: ReadOptions) {
    this.#options = options
  }

  /** @throws FileError if the header is invalid */
  *read(records: Iterable<FileRecord>): Generator<ParsedRecord, void> {
    for (const record of records) {
      const { number, isBlank } = record
      const isCutOff = record.isUnterminated && this.#options.canBeCutOff
      if (this.#columns !== undefined) {
        const result = isCutOff ? CUT_OFF : isBlank ? undefined : this.#parse(record, this.#columns)
        yield { number, result }
      } else if (isCutOff) {
        throw new FileError(`line ${number}: ${CUT_OFF}`)
      } else if (!isBlank) {
        this.#columns = readHeader(record, this.#options)
      }
    }
  }

  /** @throws FileError if the file has no header */
  end(): void {
    if (this.#columns !== undefined) return
    throw new FileError(`the file is empty: expected a header such as ${CSV_HEADER}`)
  }

  #parse({ values, problem }: FileRecord, columns: Columns): ParseResult {
    if (problem !== undefined) return problem
    const plant: Record<string, unknown> = {}
    for (const member of members) {
      const { name, type } = member
      const text = values[columns.get(name) ?? '']
      if (typeof text !== 'string') continue
      const value = readText(member, text)
      if (value === undefined) return `${name} must be an ${type}, not ${quote(text)}`
      plant[name] = value
    }
    return this.#validate(plant)
  }
}

/** @throws FileError if a column is missing, repeated or, unless such columns are ignored, unknown */
function readHeader(
  { number, values, problem }: FileRecord,
  { ignoreColumns }: ReadOptions,
): Columns {
  if (problem !== undefined) throw new FileError(`line ${number}: ${problem}`)
  const names = Object.values(values).map((name) => String(name ?? ''))
  const unknown = describeColumns(names.filter((name) => !isMember(name)))
  for (const { name, isRequired } of members) {
    const count = names.filter((each) => each === name).length
    if (count > 1) {
      throw new FileError(`line ${number}: the header names the column ${name} twice`)
    }
    if (count === 0 && isRequired) {
      const required = members.filter((member) => member.isRequired)
      const others = unknown && `; it has ${unknown}`
      throw new FileError(
        `line ${number}: the header must include the columns ${listNames(required)}, separated by a comma, semicolon or tab, as in ${CSV_HEADER}${others}`,
      )
    }
  }
  if (unknown !== '' && !ignoreColumns) {
    throw new UnknownColumns(
      `line ${number}: the header has ${unknown}: expected only ${members.map(({ name }) => name).join(', ')}`,
    )
  }
  return new Map(names.map((name, index) => [name, String(index)]))
}

/** Returns an empty string if there are no unknown columns. */
function describeColumns(unknown: readonly string[]): string {
  const { length } = unknown
  if (length === 0) return ''
  const names = unknown.slice(0, NAMES_MAX).map(describeUnknown).join(', ')
  const more = length > NAMES_MAX ? ` and ${length - NAMES_MAX} more` : ''
  return `${length === 1 ? 'an unknown column' : `${length} unknown columns`}, ${names}${more}`
}

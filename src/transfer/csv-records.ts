import { plantMembers } from '../../core/contract/contract.ts'
import type { FileRecord } from '../../core/files/file-record.ts'
import { describeRecords } from '../../core/files/record-formats.ts'
import { type Member, type MemberType, readText } from '../../core/members/members.ts'
import { FileError } from '../system/user-errors.ts'
import { type ParsedRecord, type ParseResult, type ReadOptions, recordValidator } from './record.ts'
import { describeUnknown, listNames, NAMES_MAX, quote } from './unknown-fields.ts'

/** The header has columns other than those of a plant, whose data would be lost. */
export class UnknownColumns extends FileError {}

const CUT_OFF = 'the input ends within this line; end it with a newline if it is complete'

/** A member of a plant, and the key in `FileRecord.values` of its column. */
interface Column {
  readonly member: Member
  readonly key: string
}

/** What a cell must contain. */
const EXPECTED: { readonly [Type in MemberType]: string } = {
  int64: 'an int64',
  int32: 'an int32',
  number: 'a number of at most 15 significant digits',
  boolean: 'true or false',
  string: 'text',
}

/** Parses the records of a CSV file. The first one that is not blank names the columns. */
export class CsvRecords {
  readonly #options: ReadOptions
  readonly #members: readonly Member[]
  readonly #validate: ReturnType<typeof recordValidator>
  #columns: readonly Column[] | undefined

  constructor(options: ReadOptions) {
    this.#options = options
    this.#members = plantMembers(options.contract)
    this.#validate = recordValidator(options.contract)
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
        this.#columns = readHeader(record, this.#members, this.#options)
      }
    }
  }

  /** @throws FileError if the file has no header */
  end(): void {
    if (this.#columns !== undefined) return
    const { csvHeader } = describeRecords(this.#members)
    throw new FileError(`the file is empty: expected a header such as ${csvHeader}`)
  }

  #parse({ values, problem }: FileRecord, columns: readonly Column[]): ParseResult {
    if (problem !== undefined) return problem
    const plant: Record<string, unknown> = {}
    for (const { member, key } of columns) {
      const text = values[key]
      if (typeof text !== 'string') continue
      const value = readText(member, text)
      if (value === undefined) {
        return `${member.name} must be ${EXPECTED[member.type]}, not ${quote(text)}`
      }
      plant[member.name] = value
    }
    return this.#validate(plant)
  }
}

/**
 * Returns the columns of the members, in their order.
 *
 * @throws FileError if a column is missing, repeated or, unless such columns are ignored, unknown
 */
function readHeader(
  { number, values, problem }: FileRecord,
  members: readonly Member[],
  { ignoreColumns }: ReadOptions,
): Column[] {
  if (problem !== undefined) throw new FileError(`line ${number}: ${problem}`)
  const names = Object.values(values).map((name) => String(name ?? ''))
  const unknown = describeColumns(names, members)
  for (const { name, isRequired } of members) {
    const count = names.filter((each) => each === name).length
    if (count > 1) {
      throw new FileError(`line ${number}: the header names the column ${name} twice`)
    }
    if (count === 0 && isRequired) {
      const required = members.filter((member) => member.isRequired)
      const others = unknown && `; it has ${unknown}`
      const { csvHeader } = describeRecords(members)
      throw new FileError(
        `line ${number}: the header must include the columns ${listNames(required)}, separated by a comma, semicolon or tab, as in ${csvHeader}${others}`,
      )
    }
  }
  if (unknown !== '' && !ignoreColumns) {
    throw new UnknownColumns(
      `line ${number}: the header has ${unknown}: expected only ${members.map(({ name }) => name).join(', ')}`,
    )
  }
  return members.flatMap((member) => {
    const index = names.indexOf(member.name)
    return index === -1 ? [] : [{ member, key: String(index) }]
  })
}

/** Returns an empty string if all columns are those of members. */
function describeColumns(names: readonly string[], members: readonly Member[]): string {
  const unknown = names.filter((name) => members.every((member) => member.name !== name))
  const { length } = unknown
  if (length === 0) return ''
  const described = unknown.slice(0, NAMES_MAX).map((name) => describeUnknown(name, members))
  const more = length > NAMES_MAX ? ` and ${length - NAMES_MAX} more` : ''
  return `${length === 1 ? 'an unknown column' : `${length} unknown columns`}, ${described.join(', ')}${more}`
}

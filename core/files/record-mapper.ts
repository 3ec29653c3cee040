import type { components } from '../generated/api.gen.ts'
import { exactDecimal } from '../json/decimal.ts'
import { INEXACT } from '../json/int64.ts'
import { canBeEmpty, expectations, inPlainWords, readOwn } from '../members/member-text.ts'
import { isValueOf, type Member, type MemberValue, ownValue } from '../members/members.ts'
import { problemOf } from '../members/value-rules.ts'
import { columnsOf, type Mapping } from './columns.ts'
import { DamageNotes } from './damage.ts'
import { type FileRecord, rawJSON } from './file-record.ts'
import { type Format, hasCells } from './formats.ts'

type Schemas = components['schemas']

/** What a record says about a plant: the values of members, and null for a member without one. It says nothing of others. */
export type RecordValues = { readonly [name: string]: MemberValue | null }

/** Reads the values of a record. Otherwise, says why it is refused, such as `id is missing`. */
export type ReadValues = (record: FileRecord) => RecordValues | string

/** Reads the values of the records of a file, given its columns. */
export function recordMapper(
  members: readonly Member[],
  mapping: Mapping,
  format: Format,
): ReadValues {
  const mapped = mappedMembers(members, mapping)
  return (record) => {
    if (record.problem !== undefined) return record.problem
    const values: { [name: string]: MemberValue | null } = {}
    for (const { member, keys } of mapped) {
      const { name } = member
      const given = mappedValue(record, keys)
      // Programs write null for a value that is missing.
      const isEmpty = given === null || (given === undefined && hasCells(format))
      if (isEmpty || isBlankCell(member, given, format)) values[name] = null
      else if (given !== undefined) {
        const value = readValue(member, given, format)
        const problem = isValueOf(member, value)
          ? problemOf(member, value)
          : explain(member, given, format)
        if (problem !== undefined) return `${name} ${inPlainWords(problem)}${quote(given)}`
        values[name] = value as MemberValue
      }
    }
    return values
  }
}

/** Finds signs that programs have damaged the values of the records of a file. */
export function damageFinder(members: readonly Member[], mapping: Mapping) {
  const mapped = mappedMembers(members, mapping)
  const notes = new DamageNotes(
    mapped.map(({ member }) => ({ name: member.schema?.title ?? member.name, member })),
  )
  return {
    note(record: FileRecord): void {
      if (record.problem !== undefined || record.isBlank) return
      notes.add(
        record.number,
        mapped.map(({ keys }) => toText(mappedValue(record, keys))),
      )
    },
    describe: (noun: string) => notes.describe(noun),
  }
}

/** The plant that a record describes without any other. Otherwise, says what is missing. */
export function toNewPlant(
  members: readonly Member[],
  values: RecordValues,
): Schemas['NewPlant'] | string {
  const plant: { [name: string]: MemberValue } = {}
  for (const { name, isRequired } of members) {
    const value = givenValue(values, name)
    if (value !== null) plant[name] = value
    else if (isRequired) return `${name} is missing`
  }
  return plant as unknown as Schemas['NewPlant']
}

/** What a plant becomes by a record: members of which the record says nothing stay. */
export function updatePlant(
  members: readonly Member[],
  { id, ...stored }: Schemas['StoredPlant'],
  values: RecordValues,
): Schemas['StoredPlant'] | string {
  const updated = toNewPlant(members, { ...(stored as RecordValues), ...values, id })
  return updated as Schemas['StoredPlant'] | string
}

/** The value that a record says a plant has; null if it says none, or nothing. */
export function givenValue(values: RecordValues, name: string): MemberValue | null {
  return (ownValue(values, name) as MemberValue | undefined) ?? null
}

/** The members that have columns, with the keys of these. */
function mappedMembers(members: readonly Member[], mapping: Mapping) {
  const all = members.map((member) => ({ member, keys: columnsOf(mapping, member.name) }))
  return all.filter(({ keys }) => keys.length > 0)
}

/** What a record has in the columns of a member; undefined if nothing. */
function mappedValue({ values }: FileRecord, keys: readonly string[]): unknown {
  const [first = ''] = keys
  if (keys.length <= 1) return ownValue(values, first)
  const parts = keys.map((key) => toText(ownValue(values, key)))
  const joined = parts.filter((part) => part !== undefined && part !== '').join(' ')
  return joined === '' ? undefined : joined
}

/** What a record has for a member as text, whether or not it is valid. */
export function mappedText(record: FileRecord, mapping: Mapping, name: string): string | undefined {
  return toText(mappedValue(record, columnsOf(mapping, name)))
}

function toText(value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  return JSON.stringify(value, (_name, part) =>
    typeof part === 'bigint' ? rawJSON(String(part)) : part,
  )
}

/** Whether a cell has no value although it is not empty: programs can put all cells in quotes. */
function isBlankCell(member: Member, given: unknown, format: Format): boolean {
  if (!hasCells(format) || member.schema === undefined || canBeEmpty(member)) return false
  const text = String(given)
  return text.trim() === '' && (member.type !== 'string' || problemOf(member, text) !== undefined)
}

function readValue(member: Member, given: unknown, format: Format): unknown {
  // Programs without bigints write them as text.
  const isText = typeof given === 'string' && (hasCells(format) || member.type === 'int64')
  if (isText) return readCell(member, given)
  if (typeof given !== 'bigint' || member.type === 'int64') return given
  // All integers of JSON files are bigints.
  const number = exactDecimal(String(given))
  return number === INEXACT ? given : number
}

function readCell(member: Member, text: string): MemberValue | undefined {
  if (member.type === 'boolean') return BOOLEAN_CELLS.get(text.trim().toLowerCase())
  return readOwn(member, text)
}

/** What people and spreadsheets write for true and false. An empty cell has no value. */
const BOOLEAN_CELLS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['1', true],
  ['x', true],
  ['false', false],
  ['no', false],
  ['0', false],
])

const EXPECTED_CELL = 'must be true or false, yes or no, 1 or 0, or x'

/** Says what a value that cannot be stored must be. Follows the name of its member. */
function explain({ type }: Member, given: unknown, format: Format): string {
  if (type === 'string') return 'must be text'
  if (hasCells(format) || (type === 'int64' && typeof given === 'string'))
    return type === 'boolean' ? EXPECTED_CELL : expectations[type](String(given))
  const noun = type === 'boolean' ? 'true or false' : 'a number'
  return typeof given === 'string'
    ? `must be ${noun} without quotes`
    : expectations[type](toDigits(given))
}

/** A number from JSON in decimal, which can be beyond int64. */
function toDigits(given: unknown): string {
  return typeof given === 'number' && Number.isInteger(given)
    ? String(BigInt(given))
    : String(given)
}

const QUOTED_LENGTH_MAX = 40

/** What was given instead, if it is text. */
function quote(given: unknown): string {
  if (typeof given !== 'string') return ''
  const isLong = given.length > QUOTED_LENGTH_MAX
  return `, not ${JSON.stringify(isLong ? `${given.slice(0, QUOTED_LENGTH_MAX)}…` : given)}`
}

import { type NewPlant, toJson } from '../../../client/client.ts'
import type { FileRecord } from '../../../core/files/file-record.ts'
import type { Format } from '../../../core/files/readers.ts'
import { parseInt64 } from '../../../core/json/int64.ts'
import {
  isValueOf,
  type Member,
  type MemberValue,
  ownValue,
} from '../../../core/members/members.ts'
import { isOwn, members, ownMembers } from '../../model/current-members.ts'
import { canBeEmpty, expectations, readOwn } from '../../model/member-text.ts'
import type { PlantFields } from '../../text/fields-text.tsx'

/** A column of a CSV file, or a member of the objects in a JSON file. */
export interface Column {
  /** Its key in `FileRecord.values`. */
  readonly key: string
  /** Empty if a CSV file does not name it. */
  readonly name: string
}

/** The key of the column for each member of a plant. Without one, plants do not have the member. */
export type Mapping = { readonly [name: string]: string | undefined }

/** The key of the column for a member. */
export function columnOf(mapping: Mapping, name: string): string | undefined {
  return ownValue(mapping, name) as string | undefined
}

/**
 * Names that spreadsheets and other programs give to the columns of some members, reduced to lower-case letters.
 */
const SYNONYMS: readonly { readonly member: string; readonly names: readonly string[] }[] = [
  { member: 'id', names: ['id', 'plantid', 'number', 'no', 'nr', 'key', 'accessionnumber'] },
  {
    member: 'name',
    names: [
      'name',
      'scientificname',
      'botanicalname',
      'plantname',
      'plant',
      'species',
      'taxon',
      'title',
    ],
  },
  {
    member: 'tag',
    names: ['tag', 'tags', 'category', 'group', 'type', 'growthhabit', 'habit', 'family'],
  },
]

/**
 * Guesses which column has which member: by the same name, by the title of an own field, by a similar name or, for ids,
 * by the values.
 *
 * @param sample some records
 */
export function guessMapping(columns: readonly Column[], sample: readonly FileRecord[]): Mapping {
  const taken = new Set<string>()
  const choose = (isMatch: (column: Column) => boolean): string | undefined => {
    const key = columns.find((column) => !taken.has(column.key) && isMatch(column))?.key
    if (key !== undefined) taken.add(key)
    return key
  }
  const exact = members.map((member) => choose(({ name }) => name === member.name))
  const titled = new Map(ownMembers.map((member) => [member.name, choose(hasNameOf(member))]))
  const chooseSimilar = (member: string) => {
    const synonyms = SYNONYMS.filter((each) => each.member === member)
    for (const synonym of synonyms.flatMap(({ names }) => names)) {
      const key = choose(({ name }) => toLetters(name) === synonym)
      if (key !== undefined) return key
    }
    return undefined
  }
  // Some of them can be wrong.
  const hasIds = ({ key }: Column) =>
    sample.filter(({ values }) => isId(values[key])).length > sample.length / 2
  const isNameless = () => columns.every(({ name }) => name === '')
  const chooseLikely = (member: string) => {
    if (member === 'id') return choose(hasIds)
    // Without a header, the first column of text.
    if (member === 'name') {
      return choose(({ name }) => toLetters(name).includes('name')) ?? choose(isNameless)
    }
    return undefined
  }
  const entries = members.map(({ name }, index) => [
    name,
    exact[index] ?? titled.get(name) ?? chooseSimilar(name) ?? chooseLikely(name),
  ])
  return Object.fromEntries(entries)
}

/** Whether a column has the name or the title of an own field, in any case. */
function hasNameOf({ name, schema }: Member): (column: Column) => boolean {
  const names = [name, schema?.title ?? name].map(withoutCase)
  return (column) => names.includes(withoutCase(column.name))
}

function withoutCase(name: string): string {
  return name.trim().toLowerCase()
}

function toLetters(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}]/gu, '')
}

/** Whether a value from a file is an id. */
export function isId(value: unknown): boolean {
  return typeof value === 'string'
    ? parseInt64(value.trim()) !== undefined
    : typeof value === 'bigint'
}

/** Turns a record into a plant, or says why that is impossible, without a final period. */
export type ToPlant = (record: FileRecord) => NewPlant | string

export function plantMapper(mapping: Mapping, format: Format): ToPlant {
  return (record) => {
    if (record.problem !== undefined) return `The ${record.problem}`
    const plant: Record<string, MemberValue> = {}
    for (const member of members) {
      const { name, isRequired } = member
      const given = mappedValue(record, mapping, name)
      if (given === undefined && isRequired) return `The ${name} is missing`
      // Programs write null for a value that is missing.
      if (given === undefined || (given === null && !isRequired)) continue
      if (isBlankCell(member, given, format)) continue
      const value = readValue(member, given, format)
      if (!isValueOf(member, value) || !isStorable(value)) {
        return `The ${name} ${explain(member, given, format)}`
      }
      plant[name] = value
    }
    return plant as unknown as NewPlant
  }
}

/** What a record has for a member of a plant; undefined if nothing. */
export function mappedValue({ values }: FileRecord, mapping: Mapping, name: string): unknown {
  const key = columnOf(mapping, name)
  return key === undefined ? undefined : ownValue(values, key)
}

/** The same as text. */
export function mappedText(record: FileRecord, mapping: Mapping, name: string): string | undefined {
  const value = mappedValue(record, mapping, name)
  return typeof value === 'string' || value === undefined ? value : toJson(value)
}

/** What a record has for each member, as text. */
export function fieldsOf(record: FileRecord, mapping: Mapping): PlantFields {
  return members.map(({ name }) => mappedText(record, mapping, name))
}

/** Whether a cell has no value although it is not empty: programs can put all cells in quotes. */
function isBlankCell(member: Member, given: unknown, format: Format): boolean {
  if (format !== 'csv' || !isOwn(member) || canBeEmpty(member)) return false
  return String(given).trim() === ''
}

function readValue(member: Member, given: unknown, format: Format): unknown {
  if (typeof given === 'string' && format === 'csv') return readCell(member, given)
  if (typeof given !== 'bigint' || member.type === 'int64') return given
  // All integers of JSON files are bigints.
  const number = Number(given)
  return BigInt(number) === given ? number : given
}

function readCell(member: Member, text: string): MemberValue | undefined {
  if (member.type === 'boolean') return BOOLEAN_CELLS.get(withoutCase(text))
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
  if (type === 'string') return explainText(given)
  if (format === 'csv')
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

function isStorable(value: MemberValue): boolean {
  return typeof value !== 'string' || (!value.includes('\0') && value.isWellFormed())
}

function explainText(given: unknown): string {
  if (typeof given !== 'string') return `must be text${given === null ? ', not null' : ''}`
  if (given.includes('\0')) return 'contains the character U+0000'
  // Half of a surrogate pair, which UTF-8 cannot represent.
  return 'contains half of a character'
}

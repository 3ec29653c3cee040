import type { NewPlant } from '../../../client/client.ts'
import { INT64_MAX, INT64_MIN, parseInt64 } from '../../../contract/int64.ts'
import { members } from '../../../contract/members.gen.ts'
import {
  isValueOf,
  type MemberType,
  type MemberValue,
  readText,
} from '../../../contract/members.ts'
import type { Format } from '../../../formats/readers.ts'
import type { FileRecord } from '../../../formats/records.ts'

/** A column of a CSV file, or a member of the objects in a JSON file. */
export interface Column {
  /** Its key in `FileRecord.values`. */
  readonly key: string
  /** Empty if a CSV file does not name it. */
  readonly name: string
}

/** The key of the column for each member of a plant. Without one, plants do not have the member. */
export type Mapping = { readonly [name: string]: string | undefined }

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
 * Guesses which column has which member: by the same name, by a similar one or, for ids, by the values.
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
  const chooseLikely = (member: string) => {
    if (member === 'id') return choose(hasIds)
    if (member === 'name') return choose(({ name }) => toLetters(name).includes('name'))
    return undefined
  }
  const entries = members.map(({ name }, index) => [
    name,
    exact[index] ?? chooseSimilar(name) ?? chooseLikely(name),
  ])
  return Object.fromEntries(entries)
}

function toLetters(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}]/gu, '')
}

function isId(value: unknown): boolean {
  return typeof value === 'string' ? parseInt64(value) !== undefined : typeof value === 'bigint'
}

/** Turns a record into a plant, or says why that is impossible, without a final period. */
export type ToPlant = (record: FileRecord) => NewPlant | string

export function plantMapper(mapping: Mapping, format: Format): ToPlant {
  return (record) => {
    if (record.problem !== undefined) return `The ${record.problem}`
    const plant: Record<string, MemberValue> = {}
    for (const member of members) {
      const { name, type, isRequired } = member
      const given = mappedValue(record, mapping, name)
      if (given === undefined && isRequired) return `The ${name} is missing`
      if (given === undefined) continue
      const value = format === 'csv' && typeof given === 'string' ? readText(member, given) : given
      if (!isValueOf(member, value) || !isStorable(value)) {
        return EXPLANATIONS[type](name, given, format)
      }
      plant[name] = value
    }
    return Object(plant)
  }
}

/** What a record has for a member of a plant; undefined if nothing. */
export function mappedValue({ values }: FileRecord, mapping: Mapping, name: string): unknown {
  const key = mapping[name]
  return key === undefined ? undefined : values[key]
}

/** Says why something is not a value of a type that the service can store. */
const EXPLANATIONS: {
  readonly [Each in MemberType]: (name: string, given: unknown, format: Format) => string
} = { int64: explainInt64, string: explainText }

function explainInt64(name: string, given: unknown, format: Format): string {
  if (typeof given === 'string' && format !== 'csv') {
    return `The ${name} must be a number without quotes`
  }
  const isBeyond =
    typeof given === 'number' ? Number.isInteger(given) : /^-?[1-9]\d*$/.test(String(given))
  return isBeyond
    ? `The ${name} must be between ${INT64_MIN} and ${INT64_MAX}`
    : `The ${name} must be a whole number, written like 4 or -12`
}

function isStorable(value: MemberValue): boolean {
  return typeof value !== 'string' || (!value.includes('\0') && value.isWellFormed())
}

function explainText(name: string, given: unknown): string {
  if (typeof given !== 'string') {
    return `The ${name} must be text${given === null ? ', not null' : ''}`
  }
  if (given.includes('\0')) return `The ${name} contains the character U+0000`
  // Half of a surrogate pair, which UTF-8 cannot represent.
  return `The ${name} contains half of a character`
}

import type { NewPlant } from '../../../client/client.ts'
import { INT64_MAX, INT64_MIN, parseInt64 } from '../../../contract/int64.ts'
import type { Format } from '../../../formats/readers.ts'
import { FIELDS, type Field, type FileRecord } from '../../../formats/records.ts'

/** A column of a CSV file, or a member of the objects in a JSON file. */
export interface Column {
  /** Its key in `FileRecord.values`. */
  readonly key: string
  /** Empty if a CSV file does not name it. */
  readonly name: string
}

/** The key of the column for each property of a plant. Without one, plants have no tag. */
export type Mapping = { readonly [Each in Field]: string | undefined }

/** Names that spreadsheets and other programs give the columns, in lower case and without other characters. */
const SYNONYMS: { readonly [Each in Field]: readonly string[] } = {
  id: ['id', 'plantid', 'number', 'no', 'nr', 'key', 'accessionnumber'],
  name: [
    'name',
    'scientificname',
    'botanicalname',
    'plantname',
    'plant',
    'species',
    'taxon',
    'title',
  ],
  tag: ['tag', 'tags', 'category', 'group', 'type', 'growthhabit', 'habit', 'family'],
}

/**
 * Guesses which column has which property: by the same name, by a similar one or, for ids, by the values.
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
  const [exactId, exactName, exactTag] = FIELDS.map((field) => choose(({ name }) => name === field))
  const chooseSimilar = (field: Field) => {
    for (const synonym of SYNONYMS[field]) {
      const key = choose(({ name }) => toLetters(name) === synonym)
      if (key !== undefined) return key
    }
    return undefined
  }
  // Some of them can be wrong.
  const hasIds = ({ key }: Column) =>
    sample.filter(({ values }) => isId(values[key])).length > sample.length / 2
  return {
    id: exactId ?? chooseSimilar('id') ?? choose(hasIds),
    name:
      exactName ?? chooseSimilar('name') ?? choose(({ name }) => toLetters(name).includes('name')),
    tag: exactTag ?? chooseSimilar('tag'),
  }
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
  const read = ({ values }: FileRecord, field: Field) => {
    const key = mapping[field]
    return key === undefined ? undefined : values[key]
  }
  return (record) => {
    if (record.problem !== undefined) return `The ${record.problem}`
    const value = read(record, 'id')
    const id = format === 'csv' && typeof value === 'string' ? parseInt64(value) : value
    const name = read(record, 'name')
    const tag = read(record, 'tag')
    if (typeof id !== 'bigint') return describeId(value, format)
    if (name === undefined) return 'The name is missing'
    if (!isText(name)) return describeText('name', name)
    if (tag === undefined) return { id, name }
    return isText(tag) ? { id, name, tag } : describeText('tag', tag)
  }
}

function describeId(value: unknown, format: Format): string {
  if (value === undefined) return 'The id is missing'
  if (typeof value === 'string' && format !== 'csv') return 'The id must be a number without quotes'
  const isBeyond =
    typeof value === 'number' ? Number.isInteger(value) : /^-?[1-9]\d*$/.test(String(value))
  return isBeyond
    ? `The id must be between ${INT64_MIN} and ${INT64_MAX}`
    : 'The id must be a whole number, written like 4 or -12'
}

/** Whether a value is text that the service can store. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0') && value.isWellFormed()
}

/** Says why a value is not text that the service can store. */
function describeText(field: Field, value: unknown): string {
  if (typeof value !== 'string')
    return `The ${field} must be text${value === null ? ', not null' : ''}`
  if (value.includes('\0')) return `The ${field} contains the character U+0000`
  // Half of a surrogate pair, which UTF-8 cannot represent.
  return `The ${field} contains half of a character`
}

import { parseInt64 } from '../json/int64.ts'
import type { Member } from '../members/members.ts'
import type { FileRecord } from './file-record.ts'

/** A column of a CSV file, or a member of the objects in a JSON file. */
export interface Column {
  /** Its key in `FileRecord.values`. */
  readonly key: string
  /** Empty if a CSV file does not name it. That of a member of an object is without the object. */
  readonly name: string
  /** Tells it apart from others, for people. */
  readonly label: string
}

/** The keys of the columns for each member of a plant, which a space joins. The file says nothing of other members. */
export type Mapping = { readonly [name: string]: readonly string[] }

/** The keys of the columns for a member. */
export function columnsOf(mapping: Mapping, name: string): readonly string[] {
  return Object.hasOwn(mapping, name) ? (mapping[name] ?? []) : []
}

/**
 * Names that spreadsheets and other programs give to the columns of some members, reduced to lower-case letters. The
 * first ones are the most likely.
 */
const SYNONYMS: { readonly [name: string]: readonly string[] } = {
  id: [
    'id',
    'plantid',
    'plantnumber',
    'plantno',
    'plantnr',
    'number',
    'no',
    'nr',
    'key',
    'accessionnumber',
  ],
  name: [
    'name',
    'scientificname',
    'botanicalname',
    'taxonname',
    'plantname',
    'plant',
    'species',
    'taxon',
    'title',
  ],
  tag: ['tag', 'tags', 'category', 'group', 'type', 'growthhabit', 'habit', 'family'],
}

/** Names of the columns that make up a scientific name, in its order. Those of the author can be missing. */
const NAME_PARTS = [
  ['genus'],
  ['species', 'specificepithet', 'epithet'],
  ['author', 'authors', 'authority', 'scientificnameauthorship'],
] as const

/**
 * Guesses which column has which member: by the same name, by the title of an own field, or by a similar name. Only a
 * column with unique ids has those.
 *
 * @param members those of a plant
 * @param sample some records
 */
export function guessMapping(
  members: readonly Member[],
  columns: readonly Column[],
  sample: readonly FileRecord[],
): Mapping {
  const taken = new Set<string>()
  const chosen = new Map<string, readonly string[]>()
  const choose = (name: string, keys: readonly string[]) => {
    if (chosen.has(name) || keys.length === 0) return
    chosen.set(name, keys)
    for (const key of keys) taken.add(key)
  }
  const guess = (name: string, isMatch: (column: Column) => boolean) => {
    const isFree = ({ key }: Column) => !taken.has(key)
    const canBe = (column: Column) => name !== 'id' || canBeIds(column, sample)
    const found = columns.find((each) => isFree(each) && isMatch(each) && canBe(each))
    choose(name, found === undefined ? [] : [found.key])
  }
  for (const { name } of members) guess(name, (column) => column.label === name)
  for (const { name } of members) guess(name, (column) => column.name.trim() === name)
  for (const member of members) if (member.schema) guess(member.name, hasNameOf(member))
  choose('name', findParts(columns))
  for (const { name } of members) {
    for (const synonym of synonymsOf(name)) {
      guess(name, (column) => toLetters(column.name) === synonym)
    }
  }
  guess('name', (column) => toLetters(column.name).includes('name'))
  // Without a header, the first column of words.
  const isNameless = columns.every(({ name }) => name === '')
  guess('name', ({ key }) => isNameless && sample.some(({ values }) => isWords(values[key])))
  return Object.fromEntries(chosen)
}

/** Whether the name of a column says that it has a member. */
export function isNamed(members: readonly Member[], column: string): boolean {
  const letters = toLetters(column)
  const isSynonym = ({ name }: Member) => synonymsOf(name).includes(letters)
  return members.some((member) => hasNameOf(member)({ name: column }) || isSynonym(member))
}

function synonymsOf(name: string): readonly string[] {
  return Object.hasOwn(SYNONYMS, name) ? (SYNONYMS[name] ?? []) : []
}

/** The columns that make up a scientific name. */
function findParts(columns: readonly Column[]): readonly string[] {
  const [genus, species, author] = NAME_PARTS.map((names: readonly string[]) =>
    columns.find(({ name }) => names.includes(toLetters(name))),
  )
  if (genus === undefined || species === undefined) return []
  return [genus, species, ...(author ? [author] : [])].map(({ key }) => key)
}

/** Whether most values of a column are ids or, if it has another name, all of them, each once. */
function canBeIds({ key, name }: Column, sample: readonly FileRecord[]): boolean {
  const values = sample.map(({ values }) => values[key]).filter((value) => value !== undefined)
  const ids = values.filter(isId)
  if (name.trim() === 'id') return ids.length >= values.length / 2
  return ids.length === values.length && new Set(ids.map(String)).size === ids.length
}

/** Whether a column has the name or the title of a member, in any case. */
function hasNameOf({ name, schema }: Member): (column: Pick<Column, 'name'>) => boolean {
  const names = [name, schema?.title ?? name].map(withoutCase)
  return (column) => names.includes(withoutCase(column.name))
}

function withoutCase(name: string): string {
  return name.trim().toLowerCase()
}

function toLetters(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}]/gu, '')
}

function isWords(value: unknown): boolean {
  return typeof value === 'string' && /\p{L}/u.test(value) && !/\d/.test(value)
}

/** Whether a value from a file is an id. */
function isId(value: unknown): boolean {
  return typeof value === 'string'
    ? parseInt64(value.trim()) !== undefined
    : typeof value === 'bigint'
}

/**
 * The columns that a header names. Those without a name are told apart by their number.
 *
 * @param sample records that can have more columns
 */
export function listColumns(
  header: FileRecord | undefined,
  sample: readonly FileRecord[],
): readonly Column[] {
  const width = Math.max(
    0,
    ...[...(header ? [header] : []), ...sample].map(({ values }) => Object.keys(values).length),
  )
  const names = Array.from({ length: width }, (_, index) => String(header?.values[index] ?? ''))
  const repeated = new Set(names.filter((name, index) => names.indexOf(name) !== index))
  return names.map((name, index) => {
    const key = String(index)
    const column = `column ${index + 1}`
    if (name.trim() === '') return { key, name, label: column.replace('c', 'C') }
    return { key, name, label: repeated.has(name) ? `${name} (${column})` : name }
  })
}

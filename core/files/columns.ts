import { parseInt64 } from '../json/int64.ts'
import type { Member } from '../members/members.ts'
import type { FileRecord } from './file-record.ts'

/** A column of a CSV file, or a member of the objects in a JSON file. */
export interface Column {
  /** Its key in `FileRecord.values`. */
  readonly key: string
  /** Empty if a CSV file does not name it. */
  readonly name: string
}

/** The keys of the columns for each member of a plant, whose texts a space joins. The file says nothing of others. */
export type Mapping = { readonly [name: string]: readonly string[] }

/** The keys of the columns for a member. */
export function columnsOf(mapping: Mapping, name: string): readonly string[] {
  return Object.hasOwn(mapping, name) ? (mapping[name] ?? []) : []
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
 * @param members those of a plant
 * @param sample some records
 */
export function guessMapping(
  members: readonly Member[],
  columns: readonly Column[],
  sample: readonly FileRecord[],
): Mapping {
  const taken = new Set<string>()
  const choose = (isMatch: (column: Column) => boolean): string | undefined => {
    const key = columns.find((column) => !taken.has(column.key) && isMatch(column))?.key
    if (key !== undefined) taken.add(key)
    return key
  }
  const exact = members.map((member) => choose(({ name }) => name === member.name))
  const own = members.filter(({ schema }) => schema !== undefined)
  const titled = new Map(own.map((member) => [member.name, choose(hasNameOf(member))]))
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
  const entries = members.flatMap(({ name }, index) => {
    const key = exact[index] ?? titled.get(name) ?? chooseSimilar(name) ?? chooseLikely(name)
    return key === undefined ? [] : [[name, [key]]]
  })
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

/**
 * Sorting plants by a member. For each plant, an index has a key: bytes in the order of the values. The service computes
 * the keys and the engines compare them as bytes, so both sort alike.
 */
import type { Member, MemberType, MemberValue } from '../../core/members/members.ts'
import type { FieldSchema } from '../../core/members/own-fields.ts'
import { sortKeyOf } from '../../core/members/sort-key.ts'
import { fieldValue } from './field-match.ts'
import type { Content } from './plant-content.ts'
import type { FieldCondition } from './plant-filter.ts'
import type { StoredRecord } from './record-store.ts'

/** An index, as its record describes it. The key of the record is the name of the member. */
export interface SortIndex {
  readonly member: Member
  /** Identifies its keys among those of other indexes. */
  readonly number: number
  /** Whether all plants have keys, except those that engines know to be without. */
  readonly isComplete: boolean
  /** Of one that is not complete: the id up to which all plants have keys. None has if it is undefined. */
  readonly upTo?: bigint | undefined
  /** All keys are removed, then new ones are computed, or the record is removed as well. */
  readonly clears?: 'to-build' | 'to-remove' | undefined
}

/** A place in the order of an index. */
export interface SortPlace {
  readonly key: Buffer
  readonly id: bigint
}

/** Keys from the first to the last one, inclusive. */
export interface KeyRange {
  readonly first: Buffer
  readonly last: Buffer
}

/** The key of a plant without a value. The others are longer. */
export const NO_VALUE = Buffer.alloc(0)

const WITHOUT_VALUE: KeyRange = { first: NO_VALUE, last: NO_VALUE }

/** No key is greater than the last one, because no text in UTF-8 begins with it, and no number is that great. */
const WITH_VALUE: KeyRange = { first: Buffer.of(0), last: Buffer.alloc(9, 0xff) }

/** The key of a plant. */
export function sortKey(member: Member, plant: Content): Buffer {
  const value = member.schema ? fieldValue(member, plant.fields) : toColumn(member, plant)
  return value === undefined ? NO_VALUE : toKey(member, value)
}

function toColumn({ name }: Member, plant: Content): string | undefined {
  return (name === 'name' ? plant.name : plant.tag) ?? undefined
}

function toKey(member: Member, value: MemberValue): Buffer {
  const sortKey = sortKeyOf(member, value)
  if (typeof sortKey === 'string') return Buffer.from(sortKey)
  const key = Buffer.alloc(8)
  key.writeBigUInt64BE(sortKey)
  return key
}

/**
 * The ranges of keys of the plants that meet a condition, from the first to the last, or reversed; those without a value
 * are last in any case. The ranges can have other plants: strings can differ after its first characters, and many values share
 * a range.
 */
export function keyRanges(
  member: Member,
  { is, min, max, isAbsent }: Omit<FieldCondition, 'field'>,
  isDescending: boolean,
): KeyRange[] {
  if (isAbsent) return [WITHOUT_VALUE]
  const first = min === undefined ? WITH_VALUE.first : toKey(member, min)
  const last = max === undefined ? WITH_VALUE.last : toKey(member, max)
  if (is === undefined) {
    const values = { first, last }
    return min === undefined && max === undefined ? [values, WITHOUT_VALUE] : [values]
  }
  const keys = is
    .map((value) => toKey(member, value))
    .filter((key) => key.compare(first) >= 0 && key.compare(last) <= 0)
    .sort(Buffer.compare)
    .filter((key, at, all) => all[at - 1]?.equals(key) !== true)
  // With one range for each, many would take a read each.
  const [least = NO_VALUE, greatest = NO_VALUE] = [keys[0], keys.at(-1)]
  if (keys.length > RANGES_MAX) return [{ first: least, last: greatest }]
  return (isDescending ? keys.reverse() : keys).map((key) => ({ first: key, last: key }))
}

/** How many values have a range each. */
const RANGES_MAX = 10

/** Whether the keys of two members with the same name are the same. */
export function hasSameKeys(one: Member, other: Member): boolean {
  return one.type === other.type && one.schema?.format === other.schema?.format
}

/** The index to continue with. Those with old keys come first, because the others can take long. */
export function findUnfinished(indexes: readonly SortIndex[]): SortIndex | undefined {
  return (
    indexes.find(({ clears }) => clears !== undefined) ??
    indexes.find(({ isComplete }) => !isComplete)
  )
}

/**
 * The number of the index of a member. Undefined if it is not complete, or is for values of another type.
 *
 * @param value that of its record; undefined or null if there is none
 */
export function usableIndex(member: Member, value: string | null | undefined): number | undefined {
  if (value === undefined || value === null) return undefined
  const index = readIndex({ key: member.name, value })
  return index.isComplete && hasSameKeys(index.member, member) ? index.number : undefined
}

/** The value of the record of an index. */
interface SortRecord {
  readonly number: number
  readonly type: MemberType
  /** Of an own field: what its keys depend on. */
  readonly schema?: Pick<FieldSchema, 'type' | 'format'>
  readonly isComplete: boolean
  readonly upTo?: string
  readonly clears?: SortIndex['clears']
}

export function readIndex({ key, value }: Pick<StoredRecord, 'key' | 'value'>): SortIndex {
  const { type, schema, upTo, ...state } = JSON.parse(value) as SortRecord
  const member = { name: key, type, isRequired: false, ...(schema && { schema }) }
  return { ...state, member, ...(upTo !== undefined && { upTo: BigInt(upTo) }) }
}

export function writeIndex({ member: { type, schema }, upTo, ...state }: SortIndex): string {
  const kept = schema && { type: schema.type, ...(schema.format && { format: schema.format }) }
  const record: SortRecord = {
    ...state,
    type,
    ...(kept && { schema: kept }),
    ...(upTo !== undefined && { upTo: String(upTo) }),
  }
  return JSON.stringify(record)
}

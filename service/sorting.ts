/** Sorting lists of plants by their members. */
import type { Member } from '../core/members/members.ts'
import type { ListOrder, MemberOrder } from './plant-codec.ts'
import type { ListQuery } from './plant-query.ts'
import type { PlantFilter } from './store/plant-filter.ts'
import type { SortedRequest } from './store/plant-store.ts'
import { changeRecord, type RecordStore } from './store/record-store.ts'
import { hasSameKeys, keyRanges, readIndex, writeIndex } from './store/sort-index.ts'

export function hasMember(order: ListOrder): order is MemberOrder {
  return order.member !== undefined
}

/** A request for the plants of a page in the order of a member. */
export function toSortedRequest(
  { after, afterKey = '', limit }: ListQuery,
  filter: PlantFilter,
  { member, isDescending }: MemberOrder,
): SortedRequest {
  const condition = filter.conditions?.find(({ field }) => field.name === member.name)
  const ranges = keyRanges(member, condition ?? {}, isDescending)
  const place =
    after === undefined ? undefined : { id: after, key: Buffer.from(afterKey, 'base64url') }
  return { ...filter, member, isDescending, ranges, after: place, limit }
}

/**
 * A request for the plants with one value of a field that can have an index. They are in the order of their ids, because
 * their keys are the same. Undefined if the filter requires no such value.
 */
export function toKeyedRequest(
  { after, limit }: ListQuery,
  filter: PlantFilter,
  isDescending: boolean,
): SortedRequest | undefined {
  const condition = filter.conditions?.find(({ field, is }) => field.isSortable && is?.length === 1)
  if (condition === undefined) return undefined
  const ranges = keyRanges(condition.field, condition, isDescending)
  const [range] = ranges
  const place = range && after !== undefined ? { id: after, key: range.first } : undefined
  return { ...filter, member: condition.field, isDescending, ranges, after: place, limit }
}

/**
 * Makes a store keep indexes of some members. `PlantStore.indexPlants` builds them. Those of other members stay, because
 * other processes may need them.
 */
export async function declareIndexes(
  store: Pick<RecordStore, 'listRecords' | 'changeRecords'>,
  members: readonly Member[],
): Promise<void> {
  for (const member of members) while (!(await declareIndex(store, member)));
}

/** Returns whether no other process was faster. */
async function declareIndex(
  store: Pick<RecordStore, 'listRecords' | 'changeRecords'>,
  member: Member,
): Promise<boolean> {
  const { records } = await store.listRecords(['sort-index'])
  const indexes = records.map(readIndex)
  const key = member.name
  const record = records.find((each) => each.key === key)
  if (record === undefined) {
    const number = Math.max(0, ...indexes.map((index) => index.number)) + 1
    const next = writeIndex({ member, number, isComplete: false })
    // The alias keeps another process from using the number.
    return changeRecord(store, {
      kind: 'sort-index',
      key,
      alias: String(number),
      expected: undefined,
      next,
    })
  }
  const index = readIndex(record)
  if (hasSameKeys(index.member, member) && index.clears !== 'to-remove') return true
  const next = writeIndex({ member, number: index.number, isComplete: false, clears: 'to-build' })
  return changeRecord(store, { kind: 'sort-index', key, expected: record.value, next })
}

/** Removes an index. `PlantStore.indexPlants` removes its keys. Returns whether there is one. */
export async function removeIndex(
  store: Pick<RecordStore, 'findRecord' | 'changeRecords'>,
  name: string,
): Promise<boolean> {
  for (;;) {
    const record = await store.findRecord('sort-index', { key: name })
    if (record === undefined) return false
    const { member, number } = readIndex(record)
    const next = writeIndex({ member, number, isComplete: false, clears: 'to-remove' })
    if (await changeRecord(store, { kind: 'sort-index', key: name, expected: record.value, next }))
      return true
  }
}

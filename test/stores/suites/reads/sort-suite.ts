import fc from 'fast-check'
import type { Test } from 'tap'
import { INT64_MAX, INT64_MIN } from '../../../../core/json/int64.ts'
import type { Member } from '../../../../core/members/members.ts'
import type { FieldSchema } from '../../../../core/members/own-fields.ts'
import { writeFields } from '../../../../service/store/plant-content.ts'
import type { SortedRequest, StoredPlant } from '../../../../service/store/plant-store.ts'
import {
  keyRanges,
  readIndex,
  type SortIndex,
  type SortPlace,
  sortKey,
  writeIndex,
} from '../../../../service/store/sort-index.ts'
import type { Store } from '../../../../src/stores/shared/store.ts'
import { storable } from '../../../helpers/plants/arbitraries.ts'
import { each, removals } from '../../../helpers/plants/lists.ts'
import { MEGABYTE } from '../../plants.ts'
import { type Engine, opener } from '../../store-suite.ts'

const field = (name: string, schema: FieldSchema, type: Member['type']): Member => ({
  name,
  type,
  isRequired: false,
  schema,
})

export const HEIGHT = field('height', { type: 'integer', format: 'int64' }, 'int64')
const PLANTED = field('planted', { type: 'string', format: 'date-time' }, 'string')
export const NAME: Member = { name: 'name', type: 'string', isRequired: true }
export const TAG: Member = { name: 'tag', type: 'string', isRequired: false }

const MEMBERS = [NAME, TAG, HEIGHT, PLANTED]

const text = fc.oneof(
  fc.constantFrom('', 'a', 'A', 'á', 'b', 'ab', 'ß', 'ss', '\u{10ffff}'),
  storable,
)

const plants = fc.uniqueArray(
  fc
    .record(
      {
        id: fc.oneof(fc.bigInt({ min: -20n, max: 20n }), fc.constantFrom(INT64_MIN, INT64_MAX)),
        name: text,
        tag: text,
        height: fc.constantFrom(
          '-1',
          '0',
          '7',
          '9007199254740993',
          '9223372036854775807',
          '"tall"',
        ),
        planted: fc.constantFrom(
          '"2026-01-01T00:00:00Z"',
          '"2026-01-01T01:00:00.0+01:00"',
          '"2026-01-01T00:00:00.5Z"',
          '"soon"',
        ),
      },
      { requiredKeys: ['id', 'name'], noNullPrototype: true },
    )
    .map(({ height, planted, ...plant }): StoredPlant => {
      const given = Object.entries({ height, planted }).filter(([, json]) => json !== undefined)
      const fields = writeFields(given as [string, string][])
      return fields === undefined ? plant : { ...plant, fields }
    }),
  { maxLength: 30, selector: ({ id }) => id },
)

/** The requirements of PlantStore.listSorted and indexPlants. */
export function sortSuite(t: Test, engine: Engine): void {
  t.test('sorted pages have each plant in its place, whatever changes', async (t) => {
    const open = await opener(t, engine)
    const store = await open()
    const indexes = await Promise.all(
      MEMBERS.map((member, number) => declare(store, member, number)),
    )
    await complete(store)
    let stored: readonly StoredPlant[] = []
    const property = fc.asyncProperty(
      plants,
      fc.constantFrom(...indexes),
      fc.boolean(),
      fc.integer({ min: 1, max: 12 }),
      fc.boolean(),
      async (next, index, isDescending, limit, completes) => {
        const ids = new Set(next.map(({ id }) => id))
        const gone = stored.map(({ id }) => id).filter((id) => !ids.has(id))
        // A put keeps own fields that it does not name.
        await store.apply(removals(stored.map(({ id }) => id)), 'each')
        await store.apply([...each('put', next), ...removals(gone)], 'each')
        stored = next
        if (completes) await complete(store)
        const request = {
          member: index.member,
          isDescending,
          limit,
          ranges: keyRanges(index.member, {}, isDescending),
        }
        t.strictSame(await walk(store, request), inOrder(next, index, isDescending))
      },
    )
    await fc.assert(property, { numRuns: 150 })
  })

  t.test('conditions on the field of an index select ranges of keys', async (t) => {
    const open = await opener(t, engine)
    const store = await open()
    const index = await declare(store, HEIGHT, 0)
    await complete(store)
    const heights = [undefined, 3n, 3n, -5n, 12n, undefined, 7n, 3n]
    const all = heights.map((height, at) => ({
      id: BigInt(at),
      name: `plant ${at}`,
      ...(height !== undefined && { fields: `"height":${height}` }),
    }))
    await store.apply(each('put', all), 'each')
    for (const [condition, expected] of [
      [{}, [3n, 1n, 2n, 7n, 6n, 4n, 0n, 5n]],
      [{ min: 3n }, [1n, 2n, 7n, 6n, 4n]],
      [{ max: 3n }, [3n, 1n, 2n, 7n]],
      [{ min: 4n, max: 7n }, [6n]],
      [{ is: [12n, 3n, 12n] }, [1n, 2n, 7n, 4n]],
      [{ is: [12n, 3n], min: 4n }, [4n]],
      [
        { is: [12n, 3n, ...Array.from({ length: 20 }, (_, at) => BigInt(at + 20))] },
        [1n, 2n, 7n, 4n],
      ],
      [{ isAbsent: true as const }, [0n, 5n]],
    ] as const) {
      for (const isDescending of [false, true]) {
        const ranges = keyRanges(HEIGHT, condition, isDescending)
        const hasCondition = Object.keys(condition).length > 0
        const conditions = hasCondition ? [{ field: HEIGHT, ...condition }] : undefined
        const found = await walk(store, {
          member: index.member,
          conditions,
          isDescending,
          ranges,
          limit: 2,
        })
        const last = expected.filter((id) => heights[Number(id)] === undefined)
        const first = expected.filter((id) => !last.includes(id))
        const wanted = isDescending ? [...first.toReversed(), ...last.toReversed()] : expected
        t.strictSame(found, wanted, `${Object.keys(condition)} ${isDescending}`)
      }
    }
  })

  t.test('words and a tag select among the plants of an order', async (t) => {
    const open = await opener(t, engine)
    const store = await open()
    const index = await declare(store, NAME, 0)
    const names = ['Quercus robur', 'Acer', 'Müller', 'quercus', 'muller']
    const all = names.map((name, at) => ({
      id: BigInt(at),
      name,
      ...(at % 2 === 0 && { tag: 'x' }),
    }))
    await store.apply(each('put', all), 'each')
    await complete(store)
    const request = {
      member: index.member,
      isDescending: false,
      limit: 1,
      ranges: keyRanges(NAME, {}, false),
    }
    t.strictSame(await walk(store, { ...request, words: ['quercus'] }), [3n, 0n])
    t.strictSame(await walk(store, { ...request, words: ['muller'], tag: 'x' }), [2n, 4n])
    t.strictSame(await walk(store, { ...request, tag: null }), [1n, 3n])
  })

  t.test('a page is limited in text, and large plants are in their place', async (t) => {
    const open = await opener(t, engine)
    const store = await open()
    const index = await declare(store, NAME, 0)
    const all = ['c', 'b', 'a'].map((name, at) => ({ id: BigInt(at), name: name + MEGABYTE }))
    for (const plant of all) await store.change({ ...plant, type: 'put' })
    await complete(store)
    const request = {
      member: index.member,
      isDescending: false,
      limit: 10,
      ranges: keyRanges(NAME, {}, false),
    }
    const page = await store.listSorted(request)
    t.match(page, { found: 1 })
    t.strictSame(await walk(store, request), [2n, 1n, 0n])
  })

  t.test(
    'an index is built over plants that are stored, rebuilt for another type, and removed',
    async (t) => {
      const open = await opener(t, engine)
      const store = await open()
      const all = Array.from({ length: 3000 }, (_, at) => ({
        id: BigInt(at),
        name: `plant ${at % 7}`,
        fields: `"height":${at % 100}`,
      }))
      for (let at = 0; at < all.length; at += 1000)
        await store.apply(each('put', all.slice(at, at + 1000)), 'each')
      const index = await declare(store, NAME, 0)
      await store.indexPlants()
      t.notOk((await find(store, NAME))?.isComplete)
      await store.change({ type: 'remove', id: 5n })
      await store.change({ type: 'put', id: 2999n, name: 'first' })
      await complete(store)
      t.ok((await find(store, NAME))?.isComplete)
      const left = [
        ...all.filter(({ id }) => id !== 5n && id !== 2999n),
        { id: 2999n, name: 'first' },
      ]
      const request = {
        member: index.member,
        isDescending: false,
        limit: 1000,
        ranges: keyRanges(NAME, {}, false),
      }
      t.strictSame(await walk(store, request), inOrder(left, index, false))

      await change(store, { ...index, isComplete: false, clears: 'to-remove' })
      await complete(store)
      t.equal(await find(store, NAME), undefined)
      t.equal(await store.listSorted(request), 'incomplete')
      const next = writeIndex({ ...index, isComplete: true })
      const record = { kind: 'sort-index', key: 'name', expected: undefined, next } as const
      await store.changeRecords([record], 'each')
      t.strictSame(await walk(store, request), [], 'no keys are left')
    },
  )
}

export async function declare(store: Store, member: Member, number: number): Promise<SortIndex> {
  const index: SortIndex = { member, number, isComplete: false }
  const record = {
    kind: 'sort-index',
    key: member.name,
    expected: undefined,
    next: writeIndex(index),
  } as const
  await store.changeRecords([record], 'each')
  return index
}

async function find(store: Store, { name }: Member): Promise<SortIndex | undefined> {
  const record = await store.findRecord('sort-index', { key: name })
  return record && readIndex(record)
}

async function change(store: Store, index: SortIndex): Promise<void> {
  const key = index.member.name
  const record = await store.findRecord('sort-index', { key })
  const next = writeIndex(index)
  await store.changeRecords([{ kind: 'sort-index', key, expected: record?.value, next }], 'each')
}

export async function complete(store: Store): Promise<void> {
  while (await store.indexPlants());
}

/** The ids on all pages. */
export async function walk(store: Store, request: SortedRequest): Promise<bigint[]> {
  const ids: bigint[] = []
  let after: SortPlace | undefined
  do {
    const page = await store.listSorted({ ...request, after })
    if (typeof page === 'string') throw new Error(`the index is ${page}`)
    const found = [...page.json.matchAll(/"id":(-?\d+)/g)].map(([, id = '']) => BigInt(id))
    if (found.length !== page.found || found.length > request.limit) throw new Error('wrong page')
    ids.push(...found)
    after = page.next
  } while (after !== undefined)
  return ids
}

export function inOrder(
  plants: readonly StoredPlant[],
  { member }: SortIndex,
  isDescending: boolean,
): bigint[] {
  const keyed = plants.map((plant) => ({ id: plant.id, key: sortKey(member, plant) }))
  const sorted = keyed.sort(
    (one, other) => one.key.compare(other.key) || (one.id < other.id ? -1 : 1),
  )
  if (isDescending) sorted.reverse()
  const hasValue = ({ key }: { readonly key: Buffer }) => key.length > 0
  const inPlace = [...sorted.filter(hasValue), ...sorted.filter((each) => !hasValue(each))]
  return inPlace.map(({ id }) => id)
}

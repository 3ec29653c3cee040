import type { Test } from 'tap'
import type { Member } from '../../../../core/members/members.ts'
import type { FieldCondition, PlantFilter } from '../../../../service/store/plant-filter.ts'
import {
  type PlantStore,
  SEARCH_MAX,
  type StoredPlant,
} from '../../../../service/store/plant-store.ts'
import { importPlants } from '../../../helpers/plants/import-plants.ts'
import { byId, MAX, MEGABYTE, MIN, plantsIn } from '../../plants.ts'
import { type Engine, opener } from '../../store-suite.ts'
import { searchAll } from './search-suite.ts'

const HEIGHT: Member = { name: 'height', type: 'int32', isRequired: false }
const SERIAL: Member = { name: 'serial', type: 'int64', isRequired: false }
const NOTE: Member = { name: 'no "te"', type: 'string', isRequired: false }
const WATERED: Member = {
  name: 'watered',
  type: 'string',
  isRequired: false,
  schema: { type: 'string', format: 'date-time' },
}

const HEIGHT_JSON = '"height":120'
const IDS = [MIN, -7n, 0n, 1n, 2n, 3n, 4n, 5n, 6n, MAX]

/** The plants differ in everything that conditions can select. */
const PLANTS: readonly StoredPlant[] = byId(
  [
    { name: 'Abies', tag: 'Tree', fields: HEIGHT_JSON },
    { name: 'Abies', tag: 'Tree', fields: '"height":121' },
    { name: 'abies', fields: HEIGHT_JSON },
    { name: 'Acer', tag: 'Tree', fields: `${HEIGHT_JSON},"serial":9223372036854775807` },
    { name: 'Acer', fields: '"serial":9223372036854775806' },
    { name: 'Acer', tag: '', fields: '"height":-1,"watered":"2026-11-25T23:30:00-01:00"' },
    { name: 'Abies', tag: 'Tree' },
    { name: 'Abies' },
    { name: HEIGHT_JSON, fields: '"no \\"te\\"":"\\"height\\":120"' },
    { name: 'Abies', tag: HEIGHT_JSON, fields: '"no \\"te\\"":"\u{1f331}"' },
  ].map((plant, index) => ({ id: IDS[index] ?? 0n, ...plant })),
)

type Case = readonly [filter: PlantFilter, ids: readonly bigint[]]

const where = (...conditions: FieldCondition[]): PlantFilter => ({ conditions })

const CASES: readonly Case[] = [
  [where(), IDS],
  [where({ field: HEIGHT, is: [120] }), [MIN, 0n, 1n]],
  [where({ field: HEIGHT, is: [121, -1, 7] }), [-7n, 3n]],
  [where({ field: HEIGHT, min: 121 }), [-7n]],
  [where({ field: HEIGHT, min: 0, max: 120 }), [MIN, 0n, 1n]],
  [where({ field: HEIGHT, isAbsent: true }), [2n, 4n, 5n, 6n, MAX]],
  [where({ field: SERIAL, is: [2n ** 63n - 2n] }), [2n]],
  [where({ field: SERIAL, min: 2n ** 63n - 1n }), [1n]],
  [where({ field: HEIGHT, min: 0 }, { field: SERIAL, isAbsent: true }), [MIN, -7n, 0n]],
  [where({ field: WATERED, is: ['2026-11-26T00:30:00Z'] }), [3n]],
  [where({ field: WATERED, max: '2026-11-26T00:29:59Z' }), []],
  [where({ field: NOTE, is: [HEIGHT_JSON, '\u{1f331}'] }), [6n, MAX]],
  [{ ...where({ field: HEIGHT, is: [120] }), words: ['abi'] }, [MIN, 0n]],
  [{ ...where({ field: HEIGHT, is: [120] }), tag: 'Tree' }, [MIN, 1n]],
  [{ ...where({ field: HEIGHT, is: [120] }), tag: null }, [0n]],
  [{ ...where({ field: HEIGHT, isAbsent: true }), tag: null, words: ['abies'] }, [5n]],
  [{ ...where({ field: HEIGHT, isAbsent: true }), tag: 'Tree', words: ['x'] }, []],
]

/** The requirements of PlantStore.list and PlantStore.count for conditions on own fields. */
export function filterSuite(t: Test, engine: Engine): void {
  t.test('conditions select plants on all pages, and are counted', async (t) => {
    const store = await (await opener(t, engine))()
    await importPlants(store, PLANTS, 'stop')
    for (const [filter, ids] of CASES) {
      for (const limit of [1, 2, 1000]) {
        const pages = await searchAll(store, { ...filter, limit })
        t.strictSame(idsOf(pages), ids)
        t.ok(pages.every(({ found }) => found <= limit))
      }
      t.strictSame(await store.count(filter), { found: ids.length, next: undefined })
      const later = ids.filter((id) => id > 0n)
      t.strictSame(idsOf(await searchAll(store, { ...filter, limit: 2, after: 0n })), later)
      t.strictSame(await store.count({ ...filter, after: 0n }), {
        found: later.length,
        next: undefined,
      })
    }
  })

  t.test('what one read examines is limited', async (t) => {
    const store = await (await opener(t, engine))()
    const { plants: most } = SEARCH_MAX
    const many = Array.from({ length: 2 * most + 10 }, (_, index) => ({
      id: BigInt(index),
      name: 'x',
      fields: `"height":${index % 1000 === 999 ? 1 : 0}`,
    }))
    const large = Array.from({ length: 6 }, (_, index) => ({
      id: BigInt(many.length + index),
      name: 'x',
      fields: `"height":1,"no \\"te\\"":${JSON.stringify(MEGABYTE)}`,
    }))
    await importPlants(store, many, 'stop')
    await importPlants(store, large, 'stop')
    const filter = where({ field: HEIGHT, is: [1] })
    const tall = [...many.filter(({ fields }) => fields === '"height":1'), ...large]

    const pages = await searchAll(store, { ...filter, limit: 1000 })
    t.strictSame(
      idsOf(pages),
      tall.map(({ id }) => id),
    )
    t.ok(Number(pages[0]?.next) < most, 'as many plants as are allowed')
    t.ok(pages.length > 5, 'and as much text')
    t.strictSame(idsOf(await searchAll(store, { ...filter, limit: 3 })), idsOf(pages))
    const { found, next } = await countAll(store, filter)
    t.equal(found, tall.length)
    t.ok(Number(next[0]) < most)
    t.ok(next.length > 5)
  })
}

const idsOf = (pages: readonly Parameters<typeof plantsIn>[0][]) =>
  pages.flatMap((page) => plantsIn(page).map(({ id }) => id))

/** Counts all ranges, and returns where each further one began. */
async function countAll(store: PlantStore, filter: PlantFilter) {
  let { found, next: after } = await store.count(filter)
  const next: bigint[] = []
  while (after !== undefined) {
    next.push(after)
    const range = await store.count({ ...filter, after })
    found += range.found
    after = range.next
  }
  return { found, next }
}

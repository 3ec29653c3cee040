import type { Test } from 'tap'
import { COUNT_MAX, type PlantStore, SEARCH_MAX } from '../../service/plant-store.ts'
import { importPlants } from '../../src/transfer/import.ts'
import { MAX, MEGABYTE, pageWith, plantsIn, samePlants } from './plants.ts'
import { searchAll } from './search-suite.ts'
import { type Engine, opener } from './store-suite.ts'

/** The first of COUNT_MAX ids. */
const FIRST = -BigInt(SEARCH_MAX.plants)
const END = FIRST + BigInt(COUNT_MAX)

/** Every second plant has the tag `even`, and ten of the others are of another name and tag. */
const FILL = `
  WITH RECURSIVE many (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM many WHERE n + 1 < ${COUNT_MAX})
  INSERT INTO plants (id, name, tag)
  SELECT n + ${FIRST},
    CASE WHEN n % 10000 = 9999 THEN 'Abies' ELSE 'x' END,
    CASE WHEN n % 10000 = 9999 THEN 'Tree' WHEN n % 2 = 0 THEN 'even' END
  FROM many`

const ABIES = Array.from({ length: COUNT_MAX / 10_000 }, (_, index) => ({
  id: FIRST + BigInt(index) * 10_000n + 9999n,
  name: 'Abies',
  tag: 'Tree',
}))

const LARGE = Array.from({ length: 12 }, (_, index) => ({
  id: END + BigInt(index),
  name: index % 5 === 4 ? `${MEGABYTE}Abies` : MEGABYTE,
  tag: 'large',
}))

const LAST = { id: MAX, name: 'The last Abies', tag: 'Tree' }

const MATCHING = [...ABIES, ...LARGE, LAST].filter(({ name }) => name.includes('Abies'))

/** The requirements of PlantStore.search and count for large stores. What they examine must be limited. */
export async function largeStoreSuite(t: Test, engine: Engine): Promise<void> {
  const open = await opener(t, engine, FILL)
  const store: PlantStore = await open()
  await importPlants(store, [...LARGE, LAST], 'stop')

  t.test('searches examine a part at a time', async (t) => {
    const pages = await searchAll(store, { text: 'ABIES', limit: 10 })
    samePlants(t, pages.flatMap(plantsIn), MATCHING)
    t.strictSame(plantsIn(pages[0] ?? pageWith([])), MATCHING.slice(0, 2))
    t.equal(pages[0]?.next, -1n, 'examines as many as are allowed')
  })

  t.test('searches are limited in the text that they examine at once', async (t) => {
    const pages = await searchAll(store, { text: 'abies', limit: 1000, after: END - 1n })
    samePlants(t, pages.flatMap(plantsIn), MATCHING.slice(-3))
    t.ok(pages.length > 5)
  })

  t.test('pages of plants without a tag can be empty', async (t) => {
    const after = END - 10_000n
    const pages = await searchAll(store, { text: '', limit: 1000, tag: null, after })
    const untagged = Array.from({ length: 4999 }, (_, index) => ({
      id: after + BigInt(index) * 2n + 1n,
      name: 'x',
    }))
    samePlants(t, pages.flatMap(plantsIn), untagged)
    const rest = await searchAll(store, { text: '', limit: 1000, tag: null, after: END - 1n })
    t.ok(rest.length > 5, 'as many pages as the text of the other plants needs')
    t.ok(rest.every((page) => plantsIn(page).length === 0))
  })

  t.test('a search in a tag with few plants is short', async (t) => {
    const pages = await searchAll(store, { text: 'abies', limit: 1000, tag: 'Tree' })
    t.equal(pages.length, 1)
    samePlants(t, pages.flatMap(plantsIn), [...ABIES, LAST])
  })

  t.test('counts are exact if few plants are selected', async (t) => {
    for (const [tag, plants] of [
      ['even', COUNT_MAX / 2],
      ['large', LARGE.length],
    ] as const) {
      t.strictSame(await store.count({ text: '', tag }), { plants, isExact: true })
    }
  })

  t.test('other counts are of the plants that were examined', async (t) => {
    for (const [filter, plants] of [
      [{ text: '' }, COUNT_MAX],
      [{ text: 'X' }, SEARCH_MAX.plants - 2],
      [{ text: 'x', tag: 'even' }, SEARCH_MAX.plants],
      [{ text: 'none' }, 0],
      [{ text: 'x', tag: null }, SEARCH_MAX.plants / 2 - 2],
    ] as const) {
      t.strictSame(await store.count(filter), { plants, isExact: false }, JSON.stringify(filter))
    }
    const untagged = await store.count({ text: '', tag: null })
    const most = COUNT_MAX / 2 - ABIES.length
    t.equal(untagged.isExact, false)
    t.ok(untagged.plants >= most - LARGE.length - 1 && untagged.plants <= most)
  })

  t.test('counts are limited in the text that they examine at once', async (t) => {
    const { plants, isExact } = await store.count({ text: '\u{1f331}', tag: 'large' })
    t.equal(isExact, false)
    t.ok(plants > 0 && plants < LARGE.length)
  })
}

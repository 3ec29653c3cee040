import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'
import { toWords } from '../../../../core/members/words.ts'
import {
  type CountedRange,
  PAGE_TEXT_MAX,
  type PlantPage,
  type PlantStore,
  SEARCH_MAX,
  type SearchRequest,
} from '../../../../service/store/plant-store.ts'
import { importPlants } from '../../../helpers/plants/import-plants.ts'
import { sampleNames } from '../../../helpers/plants/sample-names.ts'
import { createIn } from '../../../helpers/plants/single-changes.ts'
import { PlantModel } from '../../plant-model.ts'
import {
  byId,
  EDGES,
  MAX,
  MEGABYTE,
  pageWith,
  plantsIn,
  STRINGS,
  samePlants,
} from '../../plants.ts'
import { type Engine, opener } from '../../store-suite.ts'

/** Letters that engines lower differently, and hybrids, some of which only look like ones. */
const LETTERS = [
  ...[
    'ABC xyz',
    'abc XYZ',
    '\u00c9',
    '\u00e9',
    '\u212a',
    'k',
    'K',
    '\u0130',
    'i',
    'I',
    '\u1e9e',
    'ss',
  ],
  ...[
    'a x b',
    'a xb',
    'a \u00d7b',
    'a\u00d7 b',
    'x b',
    'X x b',
    '\u00a0x\u00a0b',
    'axb',
    'fox b',
    'a\tx b',
  ],
  ...['\u2019a\u2010b', "'A-B", 'a\u200bb', '\u039f\u03a3 x', '\u03bf\u03c2'],
]

const NAMES = [
  ...[...STRINGS, ...LETTERS, 'a%b', 'a_b', 'a\\b', 'aab', 'a.*b', '\u{1f331}\u{1f332}'],
  ...sampleNames().filter((name) => !/^[\0-\x7f]*$/.test(name)),
]

/** Each name with a tag, without one, and with another. */
const PLANTS = ['Tree', undefined, 'tree']
  .flatMap((tag) => NAMES.map((name) => (tag === undefined ? { name } : { name, tag })))
  .map((plant, index) => ({ ...plant, id: EDGES[index] ?? BigInt(index) * 1000n + 7n }))

/** The requirements of PlantStore.search. */
export function searchSuite(t: Test, engine: Engine): void {
  let store: PlantStore
  t.before(async () => {
    const open = await opener(t, engine)
    store = await open()
    await importPlants(store, byId(PLANTS), 'stop')
  })

  t.test(
    'a search and a count find the same names as the rule, whatever they contain',
    async (t) => {
      const texts = [...NAMES, 'bc x', 'C X', '\u{1f332}', 'aa', 'ab', '.', 'x', 'b x', '\u00d7A']
      const words = new Set([
        ...texts.map(toWords),
        ...texts.flatMap(toWords).map((word) => [word]),
      ])
      const requests = [...words].flatMap((words) =>
        [undefined, null, 'Tree'].map((tag) => ({ words, tag, limit: 1000 })),
      )
      t.strictSame(await findWrongPages(store, requests), [])
    },
  )

  t.test('pages of characters that JSON escapes are no longer than others', async (t) => {
    const open = await opener(t, engine)
    const other = await open()
    // Six bytes of JSON for each.
    const name = '\u0001'.repeat(2 ** 16)
    const plants = Array.from({ length: 40 }, (_, id) => ({ id: BigInt(id), name }))
    await importPlants(other, plants, 'stop')
    const searched = await searchAll(other, { words: ['\u0001'], limit: 1000 })
    const listed = [await other.list({ limit: 1000 })]
    const some = [await other.getAll(plants.map(({ id }) => id))]
    for (const pages of [searched, listed, some]) {
      t.ok(pages.every(({ json }) => json.length < 3 * PAGE_TEXT_MAX))
    }
    samePlants(t, searched.flatMap(plantsIn), plants)
    for (const [page] of [listed, some]) t.equal(page?.next, plantsIn(page as PlantPage).at(-1)?.id)
  })

  t.test('a plant that only a closer look finds is not skipped', async (t) => {
    const open = await opener(t, engine)
    const other = await open()
    const plants = Array.from({ length: 5000 }, (_, index) => {
      return {
        id: BigInt(index),
        name: index % 2 === 0 ? '\u00c4hre' : index % 1000 === 7 ? 'ahre' : 'x',
      }
    })
    await importPlants(other, plants, 'stop')
    const matching = plants.filter(({ name }) => name !== 'x')
    for (const limit of [7, 1000]) {
      const pages = await searchAll(other, { words: ['ahre'], limit })
      samePlants(t, pages.flatMap(plantsIn), matching)
    }
    let found = 0
    for (let after: bigint | undefined | null = null; after !== undefined; ) {
      const range: CountedRange = await other.count({ words: ['ahre'], after: after ?? undefined })
      found += range.found
      after = range.next
    }
    t.equal(found, matching.length)
  })

  t.test('large stores', (t) => largeStores(t, engine))
}

/** What a search examines must be limited. */
async function largeStores(t: Test, engine: Engine): Promise<void> {
  const { plants: most } = SEARCH_MAX
  const open = await opener(t, engine)
  const store = await open()
  const count = 2 * most + 10
  const many = Array.from({ length: count }, (_, index) => {
    const id = BigInt(index) - BigInt(most)
    return index % 2000 === 1999 ? { id, name: 'Abies', tag: 'Tree' } : { id, name: 'x' }
  })
  await importPlants(store, many, 'stop')
  const large = Array.from({ length: 12 }, (_, index) => ({
    id: BigInt(count + index),
    name: index % 5 === 4 ? `${MEGABYTE}Abies` : MEGABYTE,
    tag: 'large',
  }))
  await importPlants(store, large, 'stop')
  const last = { id: MAX, name: 'The last Abies', tag: 'Tree' }
  await createIn(store, last)
  const matching = [...many, ...large, last].filter(({ name }) => name.includes('Abies'))

  t.test('are searched in parts', async (t) => {
    const pages = await searchAll(store, { words: ['abies'], limit: 10 })
    samePlants(t, pages.flatMap(plantsIn), matching)
    t.strictSame(plantsIn(pages[0] ?? pageWith([])), matching.slice(0, 2))
    t.equal(pages[0]?.next, BigInt(most - 1) - BigInt(most), 'examines as many as are allowed')
  })

  t.test('are limited in the text that is searched at once', async (t) => {
    const pages = await searchAll(store, {
      words: ['abies'],
      limit: 1000,
      after: BigInt(count - 1),
    })
    samePlants(t, pages.flatMap(plantsIn), matching.slice(-3))
    t.ok(pages.length > 5)
  })

  t.test('have pages of plants without a tag, which can be empty', async (t) => {
    const pages = await searchAll(store, { limit: 1000, tag: null, after: 0n })
    samePlants(
      t,
      pages.flatMap(plantsIn),
      many.filter(({ id, tag }) => id > 0n && tag === undefined),
    )
    const rest = await searchAll(store, {
      limit: 1000,
      tag: null,
      after: many.at(-1)?.id,
    })
    t.ok(rest.length > 5, 'as many pages as the text of the other plants needs')
    t.ok(rest.every((page) => plantsIn(page).length === 0))
  })

  t.test('have short searches in a tag with few plants', async (t) => {
    const tagged = matching.filter(({ tag }) => tag === 'Tree')
    const pages = await searchAll(store, { words: ['abies'], limit: 1000, tag: 'Tree' })
    t.equal(pages.length, 1)
    samePlants(t, pages.flatMap(plantsIn), tagged)
  })
}

/** Finds the requests whose page or count differs from that of the model. */
async function findWrongPages(
  store: PlantStore,
  requests: readonly SearchRequest[],
): Promise<SearchRequest[]> {
  const model = new PlantModel(PLANTS)
  const wrong: SearchRequest[] = []
  for (const request of requests) {
    const { limit, ...filter } = request
    const [page, count] = [await store.list(request), await store.count(filter)]
    if (!isDeepStrictEqual([page, count], [model.list(request), model.count(filter)]))
      wrong.push(request)
  }
  return wrong
}

/** All pages of a search. */
export async function searchAll(store: PlantStore, request: SearchRequest) {
  const pages = [await store.list(request)]
  for (;;) {
    const after = pages.at(-1)?.next
    if (after === undefined) return pages
    pages.push(await store.list({ ...request, after }))
  }
}

import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'
import {
  PAGE_TEXT_MAX,
  type PlantPage,
  type PlantStore,
  SEARCH_MAX,
  type SearchRequest,
} from '../../../../service/store/plant-store.ts'
import { importPlants } from '../../../../src/transfer/import.ts'
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

/** Letters that other rules than ASCII's would lower, or match with ASCII letters. */
const LETTERS = [
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
]

const NAMES = [...STRINGS, ...LETTERS, 'a%b', 'a_b', 'a\\b', 'aab', 'a.*b', '\u{1f331}\u{1f332}']

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
    'a search finds a text anywhere in a name, and ignores only the case of ASCII',
    async (t) => {
      const texts = [...NAMES, 'bc x', 'C X', '\u{1f332}', '\ud83c', 'aa', 'ab', '.'].filter(
        (text) => text !== '' && text.isWellFormed(),
      )
      t.strictSame(
        await findWrongPages(
          store,
          texts.map((text) => ({ text, limit: 1000 })),
        ),
        [],
      )
    },
  )

  t.test('pages of characters that JSON escapes are no longer than others', async (t) => {
    const open = await opener(t, engine)
    const other = await open()
    // Six bytes of JSON for each.
    const name = '\u0001'.repeat(2 ** 16)
    const plants = Array.from({ length: 40 }, (_, id) => ({ id: BigInt(id), name }))
    await importPlants(other, plants, 'stop')
    const searched = await searchAll(other, { text: '\u0001', limit: 1000 })
    const listed = [await other.list({ limit: 1000 })]
    const some = [await other.getAll(plants.map(({ id }) => id))]
    for (const pages of [searched, listed, some]) {
      t.ok(pages.every(({ json }) => json.length < 3 * PAGE_TEXT_MAX))
    }
    samePlants(t, searched.flatMap(plantsIn), plants)
    for (const [page] of [listed, some]) t.equal(page?.next, plantsIn(page as PlantPage).at(-1)?.id)
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
    const pages = await searchAll(store, { text: 'ABIES', limit: 10 })
    samePlants(t, pages.flatMap(plantsIn), matching)
    t.strictSame(plantsIn(pages[0] ?? pageWith([])), matching.slice(0, 2))
    t.equal(pages[0]?.next, BigInt(most - 1) - BigInt(most), 'examines as many as are allowed')
  })

  t.test('are limited in the text that is searched at once', async (t) => {
    const pages = await searchAll(store, { text: 'abies', limit: 1000, after: BigInt(count - 1) })
    samePlants(t, pages.flatMap(plantsIn), matching.slice(-3))
    t.ok(pages.length > 5)
  })

  t.test('have pages of plants without a tag, which can be empty', async (t) => {
    const pages = await searchAll(store, { text: '', limit: 1000, tag: null, after: 0n })
    samePlants(
      t,
      pages.flatMap(plantsIn),
      many.filter(({ id, tag }) => id > 0n && tag === undefined),
    )
    const rest = await searchAll(store, {
      text: '',
      limit: 1000,
      tag: null,
      after: many.at(-1)?.id,
    })
    t.ok(rest.length > 5, 'as many pages as the text of the other plants needs')
    t.ok(rest.every((page) => plantsIn(page).length === 0))
  })

  t.test('have short searches in a tag with few plants', async (t) => {
    const tagged = matching.filter(({ tag }) => tag === 'Tree')
    const pages = await searchAll(store, { text: 'abies', limit: 1000, tag: 'Tree' })
    t.equal(pages.length, 1)
    samePlants(t, pages.flatMap(plantsIn), tagged)
  })
}

/** Finds the requests whose page differs from that of the model. */
async function findWrongPages(
  store: PlantStore,
  requests: readonly SearchRequest[],
): Promise<SearchRequest[]> {
  const model = new PlantModel(PLANTS)
  const pages = await Promise.all(requests.map((request) => store.list(request)))
  return requests.filter((request, index) => !isDeepStrictEqual(pages[index], model.list(request)))
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

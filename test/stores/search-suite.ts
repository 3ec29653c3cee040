import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'
import type { PlantPage, PlantStore, SearchRequest } from '../../service/plant-store.ts'
import { BATCH_TEXT_MAX } from '../../src/stores/shared/page-limits.ts'
import { importPlants } from '../../src/transfer/import.ts'
import { PlantModel } from './plant-model.ts'
import { byId, EDGES, pageWith, plantsIn, STRINGS, samePlants } from './plants.ts'
import { type Engine, opener } from './store-suite.ts'

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

  t.test('a store completes its searches before it closes', async (t) => {
    const open = await opener(t, engine)
    const closing = await open()
    const plants = Array.from({ length: 5000 }, (_, id) => ({ id: BigInt(id), name: `x${id}` }))
    await importPlants(closing, plants, 'stop')
    const search = closing.search({ text: 'X4999', limit: 1 })
    const tags = closing.listTags({ limit: 1 })
    await closing.close()
    t.strictSame(await search, pageWith(plants.slice(-1)))
    t.strictSame(await tags, { tags: [], next: undefined })
  })

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
      t.ok(pages.every(({ json }) => json.length < 2 * BATCH_TEXT_MAX))
    }
    samePlants(t, searched.flatMap(plantsIn), plants)
    for (const [page] of [listed, some]) t.equal(page?.next, plantsIn(page as PlantPage).at(-1)?.id)
  })
}

/** Finds the requests whose page differs from that of the model. */
async function findWrongPages(
  store: PlantStore,
  requests: readonly SearchRequest[],
): Promise<SearchRequest[]> {
  const model = new PlantModel(PLANTS)
  const pages = await Promise.all(requests.map((request) => store.search(request)))
  return requests.filter(
    (request, index) => !isDeepStrictEqual(pages[index], model.search(request)),
  )
}

/** All pages of a search. */
export async function searchAll(store: PlantStore, request: SearchRequest) {
  const pages = [await store.search(request)]
  for (;;) {
    const after = pages.at(-1)?.next
    if (after === undefined) return pages
    pages.push(await store.search({ ...request, after }))
  }
}

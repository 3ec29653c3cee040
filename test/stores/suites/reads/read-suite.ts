import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'
import type {
  PageRequest,
  PlantPage,
  PlantStore,
  StoredPlant,
} from '../../../../service/store/plant-store.ts'
import { importPlants } from '../../../helpers/plants/import-plants.ts'
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
  scatteredIds,
} from '../../plants.ts'
import { type Engine, opener } from '../../store-suite.ts'

const TEN_KILOBYTES = 'x'.repeat(10_000)

const TAGS = [...STRINGS, TEN_KILOBYTES, `${TEN_KILOBYTES}a`, `${TEN_KILOBYTES}b`]

/** Three plants per tag and some without a tag, scattered across int64. */
const PLANTS = withIds([
  ...TAGS.flatMap((tag) => [...STRINGS.slice(0, 2), tag].map((name) => ({ name, tag }))),
  ...STRINGS.map((name) => ({ name })),
])

/** The requirements of PlantStore.get, getAll and list, without concurrent changes. */
export function readSuite(t: Test, engine: Engine): void {
  let store: PlantStore
  t.before(async () => {
    const open = await opener(t, engine)
    store = await open()
    await importPlants(store, PLANTS, 'stop')
  })

  t.test('get returns exactly the stored plant', async (t) => {
    samePlants(t, await Promise.all(PLANTS.map(({ id }) => store.get(id))), PLANTS)
  })

  t.test('a page begins after the given id, up to the limits of int64', async (t) => {
    const afters = [...EDGES, ...scatteredIds(5), 12_345n]
    const requests = [undefined, ...afters].flatMap((after) =>
      [1, 2, 1000].map((limit) => ({ after, limit })),
    )
    t.strictSame(await findWrongPages(store, requests), [])
  })

  t.test('a page of a tag has only plants with exactly that tag', async (t) => {
    const requests = [...TAGS, 'unused', `${TEN_KILOBYTES}c`].flatMap((tag) => {
      const ids = PLANTS.filter((plant) => plant.tag === tag).map(({ id }) => id)
      const [first = 0n, second] = ids
      return [
        { tag, limit: 2 },
        { tag, limit: 3 },
        { tag, limit: 1, after: first },
        { tag, limit: 2, after: first },
        { tag, limit: 4, after: second },
        { tag, limit: 1, after: ids.at(-1) },
      ]
    })
    t.strictSame(await findWrongPages(store, requests), [])
  })

  t.test('consecutive pages contain each plant once, sorted by id', async (t) => {
    const all = PLANTS.length
    for (const limit of [7, all - 1, all, 2 ** 31]) {
      const pages = await walk(store, { limit })
      samePlants(t, plantsOf(pages), PLANTS)
      const sizes = pages.map((page) => plantsIn(page).length)
      t.equal(sizes.length, Math.ceil(all / limit), 'no page after the last plant')
      t.ok(sizes.slice(0, -1).every((size) => size === limit))
    }
  })

  t.test('plants are found by their ids, and sorted', async (t) => {
    const ids = PLANTS.map(({ id }) => id)
    samePlants(t, plantsIn(await store.getAll(ids)), PLANTS)
    const stored = new Set(ids)
    const near = [...new Set(ids.flatMap((id) => [id, id + 1n]))]
      .filter((id) => id <= MAX)
      .sort((one, other) => (one < other ? -1 : 1))
    t.ok(near.some((id) => !stored.has(id)))
    t.strictSame(await store.getAll(near), new PlantModel(PLANTS).getAll(near))
    t.strictSame(await store.getAll([]), pageWith([]))
  })

  t.test('very large plants', (t) => largePlants(t, engine))
}

/** The amount of text in a page or batch must be limited. */
async function largePlants(t: Test, engine: Engine): Promise<void> {
  const tag = `${MEGABYTE}.`
  const name = 'x'.repeat(2 ** 20)
  const plants = byId([
    { id: -2n, name: 'small', tag: MEGABYTE },
    { id: -1n, name: MEGABYTE, tag },
    { id: 0n, name: `${name.repeat(3)}y`, tag },
    ...Array.from({ length: 4 }, (_, id) => ({ id: BigInt(id) + 1n, name, tag: 'x' })),
    { id: 5n, name: 'small', tag: 'x' },
  ])
  const open = await opener(t, engine)
  const store = await open()
  await importPlants(store, plants, 'stop')

  t.test('shorten pages, but never to zero plants', async (t) => {
    const pages = await walk(store, { limit: 1000 })
    samePlants(t, plantsOf(pages), plants)
    t.ok(pages.length > 1)
    t.ok(pages.every((page) => plantsIn(page).length > 0))
    const tagged = await walk(store, { limit: 1000, tag: 'x' })
    samePlants(t, plantsOf(tagged), plants.slice(3))
    t.ok(tagged.length > 1)
  })

  t.test('shorten pages of plants with some ids', async (t) => {
    const ids = plants.map(({ id }) => id)
    const pages = [await store.getAll([...ids, 6n])]
    for (;;) {
      const after = pages.at(-1)?.next
      if (after === undefined) break
      pages.push(await store.getAll(ids.filter((id) => id > after)))
    }
    samePlants(t, plantsOf(pages), plants)
    t.ok(pages.length > 1)
    t.ok(pages.every((page) => plantsIn(page).length > 0))
  })

  t.test('are found by tags of a megabyte', async (t) => {
    samePlants(t, plantsOf(await walk(store, { limit: 10, tag })), plants.slice(1, 3))
    samePlants(t, plantsOf(await walk(store, { limit: 1, tag: MEGABYTE })), plants.slice(0, 1))
    t.strictSame(await walk(store, { limit: 1, tag: MEGABYTE.slice(2) }), [pageWith([])])
  })

  t.test('are exported in small batches', async (t) => {
    const parts = await Array.fromAsync(store.exportPlants())
    samePlants(t, parts.flat(), plants)
    t.ok(parts.length > 1)
  })
}

/** Finds the requests whose page differs from that of the model. */
async function findWrongPages(store: PlantStore, requests: PageRequest[]): Promise<PageRequest[]> {
  const model = new PlantModel(PLANTS)
  const pages = await Promise.all(requests.map((request) => store.list(request)))
  return requests.filter((request, index) => !isDeepStrictEqual(pages[index], model.list(request)))
}

async function walk(store: PlantStore, request: PageRequest): Promise<PlantPage[]> {
  const pages: PlantPage[] = []
  let after = request.after
  for (;;) {
    const page = await store.list({ ...request, after })
    pages.push(page)
    if (page.next === undefined) return pages
    if (page.next !== plantsIn(page).at(-1)?.id) throw new Error('the next page skips plants')
    after = page.next
  }
}

function plantsOf(pages: readonly PlantPage[]): StoredPlant[] {
  return pages.flatMap(plantsIn)
}

function withIds(plants: Omit<StoredPlant, 'id'>[]): StoredPlant[] {
  const ids = [...EDGES, ...scatteredIds(plants.length - EDGES.length)]
  return byId(plants.map((plant, index) => ({ ...plant, id: ids[index] as bigint })))
}

import type { Test } from 'tap'
import type { ImportResult, OnConflict, Plant, PlantStore } from '../../service/plant-store.ts'
import { onConflicts } from '../../service/plant-store.ts'
import {
  byId,
  count,
  exported,
  MAX,
  MIN,
  pageWith,
  plantsIn,
  samePlants,
  scatteredIds,
} from './plants.ts'
import { type Engine, opener } from './store-suite.ts'

/** An import, with the plants before and after it. */
interface Case {
  readonly what: string
  readonly plants: readonly [id: bigint, plant: Plant][]
  readonly results: Record<OnConflict, ImportResult[]>
  readonly after: Record<OnConflict, (Plant | undefined)[]>
}

const [A, TAGGED, B] = [{ name: 'a' }, { name: 'a', tag: '' }, { name: 'b', tag: 'x' }]

/** Before the import, ids 0 and 3 have plant A, and 1 and 2 are free. `after` has the plants 0, 1, 2 and 3. */
const CASES: Case[] = [
  {
    what: 'of which some are stored and others conflict',
    plants: [
      [2n, B],
      [0n, A],
      [3n, B],
      [1n, A],
    ],
    results: {
      stop: ['created', 'replayed', 'conflict'],
      keep: ['created', 'replayed', 'kept', 'created'],
      replace: ['created', 'replayed', 'replaced', 'created'],
    },
    after: { stop: [A, undefined, B, A], keep: [A, A, B, A], replace: [A, A, B, B] },
  },
  {
    what: 'that differ from stored ones by an empty tag',
    plants: [
      [0n, TAGGED],
      [3n, A],
    ],
    results: {
      stop: ['conflict'],
      keep: ['kept', 'replayed'],
      replace: ['replaced', 'replayed'],
    },
    after: {
      stop: [A, undefined, undefined, A],
      keep: [A, undefined, undefined, A],
      replace: [TAGGED, undefined, undefined, A],
    },
  },
  {
    what: 'of which several have the same id',
    plants: [
      [1n, A],
      [1n, A],
      [1n, B],
      [1n, B],
      [1n, A],
      [2n, A],
    ],
    results: {
      stop: ['created', 'replayed', 'conflict'],
      keep: ['created', 'replayed', 'kept', 'kept', 'replayed', 'created'],
      replace: ['created', 'replayed', 'replaced', 'replayed', 'replaced', 'created'],
    },
    after: { stop: [A, A, undefined, A], keep: [A, A, A, A], replace: [A, A, A, A] },
  },
  {
    what: '(none)',
    plants: [],
    results: { stop: [], keep: [], replace: [] },
    after: {
      stop: [A, undefined, undefined, A],
      keep: [A, undefined, undefined, A],
      replace: [A, undefined, undefined, A],
    },
  },
]

/** The requirements of PlantStore.importPlants. */
export function importSuite(t: Test, engine: Engine): void {
  let store: PlantStore
  let lastId = 0n
  const unusedIds = (count: number) => Array.from({ length: count }, () => ++lastId)
  t.before(async () => {
    const open = await opener(t, engine)
    store = await open()
  })

  for (const { what, plants, results, after } of CASES) {
    for (const onConflict of onConflicts) {
      t.test(`an import with ${onConflict}: plants ${what}`, async (t) => {
        const ids = unusedIds(4)
        const first = ids[0] as bigint
        await Promise.all([first, first + 3n].map((id) => store.create({ id, ...A })))
        const imported = plants.map(([id, plant]) => ({ id: first + id, ...plant }))
        t.strictSame(await store.importPlants(imported, onConflict), results[onConflict])
        t.strictSame(
          await Promise.all(ids.map((id) => store.get(id))),
          after[onConflict].map((plant, index) => plant && { id: ids[index], ...plant }),
        )
      })
    }
  }

  t.test('a replaced plant is found only by its new tag', async (t) => {
    const [id = 0n] = unusedIds(1)
    await store.create({ id, name: 'a', tag: 'before' })
    await store.importPlants([{ id, name: 'a', tag: 'after' }], 'replace')
    t.strictSame(await store.list({ tag: 'before', limit: 1 }), pageWith([]))
    t.equal(plantsIn(await store.list({ tag: 'after', limit: 1 }))[0]?.id, id)
  })

  t.test('an import and concurrent creates of the same ids have one winner per id', async (t) => {
    const ids = unusedIds(300)
    const [early, imported, late] = await Promise.all([
      Promise.all(ids.slice(0, 200).map((id) => store.create({ id, name: 'created' }))),
      store.importPlants(
        ids.map((id) => ({ id, name: 'imported' })),
        'keep',
      ),
      Promise.all(ids.slice(200).map((id) => store.create({ id, name: 'created' }))),
    ])
    const created = [...early, ...late]
    const stored = await Promise.all(ids.map((id) => store.get(id)))
    for (const [index, plant] of stored.entries()) {
      const results = plant?.name === 'created' ? ['created', 'kept'] : ['conflict', 'created']
      t.strictSame([created[index], imported[index]], results)
    }
  })

  t.test('a large import is stored, then replayed, and exported', async (t) => {
    const open = await opener(t, engine)
    const store = await open()
    const ids = [MAX, MIN, ...scatteredIds(19_998)]
    const plants = ids.map((id, index) => ({
      id,
      name: `plant ${id}`,
      ...(index % 3 > 0 && { tag: index % 3 === 1 ? '' : `tag ${index % 100}` }),
    }))
    t.equal(count(await store.importPlants(plants, 'stop'), 'created'), plants.length)
    t.equal(count(await store.importPlants(plants, 'stop'), 'replayed'), plants.length)
    samePlants(t, await exported(store), byId(plants))
  })
}

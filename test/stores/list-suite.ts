import type { Test } from 'tap'
import type {
  ApplyMode,
  ChangeResult,
  NewPlant,
  Plant,
  PlantChange,
  PlantStore,
} from '../../service/plant-store.ts'
import { contentVersion, StoreUnavailable } from '../../service/plant-store.ts'
import { createAll, each, removals } from '../helpers/lists.ts'
import { changesAfter, contentOf, latest } from './changes.ts'
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

const [A, TAGGED, B] = [{ name: 'a' }, { name: 'a', tag: '' }, { name: 'b', tag: 'x' }]

const [OF_A, OF_B] = [[contentVersion(A)], [contentVersion(B)]]

const create = (id: bigint, plant: Plant): PlantChange => ({
  ...plant,
  id,
  type: 'create',
})
const put = (id: bigint, plant: Plant): PlantChange => ({ ...plant, id, type: 'put' })

/** A list, its results, and the plants 0 to 3 after it. Before it, 0 and 3 have plant A, and 1 and 2 are free. */
interface Case {
  readonly what: string
  readonly mode?: ApplyMode
  readonly changes: readonly PlantChange[]
  readonly results: readonly ChangeResult[]
  readonly after: readonly (Plant | undefined)[]
}

const BEFORE = [A, undefined, undefined, A]

const CASES: Case[] = [
  {
    what: 'creates',
    changes: [create(2n, B), create(0n, A), create(3n, B), create(1n, A), create(0n, TAGGED)],
    results: ['created', 'replayed', 'conflict', 'created', 'conflict'],
    after: [A, A, B, A],
  },
  {
    what: 'creates and replaces',
    changes: [put(2n, B), put(0n, A), put(3n, TAGGED)],
    results: ['created', 'unchanged', 'updated'],
    after: [A, undefined, B, TAGGED],
  },
  {
    what: 'updates',
    changes: [
      { type: 'update', id: 3n, patch: { tag: 'x' } },
      { type: 'update', id: 0n, patch: { name: 'a', tag: null }, expected: OF_A },
      { type: 'update', id: 1n, patch: {} },
    ],
    results: ['updated', 'unchanged', 'not-found'],
    after: [A, undefined, undefined, { name: 'a', tag: 'x' }],
  },
  {
    what: 'removes',
    changes: [
      { type: 'remove', id: 3n, expected: [...OF_B, ...OF_A] },
      { type: 'remove', id: 1n },
      { type: 'remove', id: 0n },
    ],
    results: ['removed', 'unchanged', 'removed'],
    after: [undefined, undefined, undefined, undefined],
  },
  {
    what: 'expects versions that no plant has',
    changes: [
      { type: 'update', id: 0n, patch: B, expected: OF_B },
      { type: 'remove', id: 3n, expected: [] },
      { type: 'update', id: 1n, patch: B, expected: OF_B },
      { type: 'remove', id: 2n, expected: OF_B },
    ],
    results: ['changed', 'changed', 'not-found', 'not-found'],
    after: BEFORE,
  },
  {
    what: 'changes plants several times',
    changes: [
      create(1n, A),
      create(1n, A),
      create(1n, B),
      put(1n, B),
      { type: 'update', id: 1n, patch: { name: 'c' }, expected: OF_B },
      { type: 'remove', id: 0n, expected: OF_A },
      { type: 'remove', id: 0n },
      put(0n, B),
      create(2n, A),
      { type: 'remove', id: 2n },
    ],
    results: [
      'created',
      'replayed',
      'conflict',
      'updated',
      'updated',
      'removed',
      'unchanged',
      'created',
      'created',
      'removed',
    ],
    after: [B, { name: 'c', tag: 'x' }, undefined, A],
  },
  {
    what: 'does all of this, or nothing',
    mode: 'all-or-none',
    changes: [
      put(1n, B),
      { type: 'update', id: 3n, patch: B, expected: OF_A },
      { type: 'remove', id: 0n },
      create(2n, A),
    ],
    results: ['created', 'updated', 'removed', 'created'],
    after: [undefined, B, A, B],
  },
  {
    what: 'has a conflict, so that nothing is changed',
    mode: 'all-or-none',
    changes: [
      put(2n, B),
      put(3n, B),
      { type: 'update', id: 3n, patch: { tag: 'y' } },
      { type: 'remove', id: 0n },
      create(1n, B),
      create(1n, A),
    ],
    results: ['created', 'updated', 'updated', 'removed', 'created', 'conflict'],
    after: BEFORE,
  },
  {
    what: 'has several refused changes, so that nothing is changed',
    mode: 'all-or-none',
    changes: [
      create(1n, A),
      { type: 'update', id: 2n, patch: A },
      { type: 'remove', id: 3n, expected: OF_B },
      create(0n, B),
    ],
    results: ['created', 'not-found', 'changed', 'conflict'],
    after: BEFORE,
  },
  { what: 'is empty', changes: [], results: [], after: BEFORE },
]

/** The requirements of PlantStore.apply. */
export function listSuite(t: Test, engine: Engine): void {
  let store: PlantStore
  let lastId = 0n
  const unusedIds = (count: number) => Array.from({ length: count }, () => ++lastId)
  t.before(async () => {
    const open = await opener(t, engine)
    store = await open()
  })
  const stored = (ids: readonly bigint[]) => Promise.all(ids.map((id) => store.get(id)))

  for (const { what, mode = 'each', changes, results, after } of CASES) {
    t.test(`a list that ${what}`, async (t) => {
      const ids = unusedIds(4)
      const first = ids[0] as bigint
      await Promise.all([first, first + 3n].map((id) => store.create({ id, ...A })))
      const start = await latest(store)
      const shifted = changes.map((change) => ({ ...change, id: first + change.id }))
      t.strictSame(await store.apply(shifted, mode), results)
      t.strictSame(
        await stored(ids),
        after.map((plant, index) => plant && { id: ids[index], ...plant }),
      )
      const changed = new Set((await changesAfter(store, start)).map(({ id }) => id))
      for (const [index, id] of ids.entries()) {
        if (after[index] === BEFORE[index] && mode === 'all-or-none') t.notOk(changed.has(id))
        if (after[index] !== BEFORE[index]) t.ok(changed.has(id))
      }
    })
  }

  t.test('a replaced plant is found only by its new tag', async (t) => {
    const [id = 0n] = unusedIds(1)
    await store.create({ id, name: 'a', tag: 'before' })
    await store.apply([put(id, { name: 'a', tag: 'after' })], 'each')
    t.strictSame(await store.list({ tag: 'before', limit: 1 }), pageWith([]))
    t.equal(plantsIn(await store.list({ tag: 'after', limit: 1 }))[0]?.id, id)
  })

  t.test('a refused list does not affect changes that are made at the same time', async (t) => {
    const [taken = 0n, free = 0n, own = 0n, last = 0n] = unusedIds(4)
    await store.create({ id: taken, ...A })
    const results = await Promise.all([
      store.create({ id: own, ...A }),
      store.apply([create(free, B), create(taken, B)], 'all-or-none'),
      store.apply([create(last, B), create(taken, A)], 'all-or-none'),
      store.update(taken, {}),
    ])
    t.strictSame(results, [
      'created',
      ['created', 'conflict'],
      ['created', 'replayed'],
      { id: taken, ...A },
    ])
    t.strictSame(await stored([free, own, last]), [
      undefined,
      { id: own, ...A },
      { id: last, ...B },
    ])
  })

  t.test('the feed has the changes of all lists that are applied at the same time', async (t) => {
    const [id = 0n] = unusedIds(1)
    const start = await latest(store)
    const lists = [[create(id, A)], [put(id, B)], removals([id])]
    const results = await Promise.all(lists.map((list) => store.apply(list, 'all-or-none')))
    t.strictSame(results, [['created'], ['updated'], ['removed']])
    t.strictSame((await changesAfter(store, start)).map(contentOf), [
      ['created', id, A],
      ['changed', id, B],
      ['removed', id],
    ])
  })

  t.test('of concurrent lists with a common plant, one is applied completely', async (t) => {
    const ids = unusedIds(201)
    const [common = 0n] = ids
    const lists = Array.from({ length: 20 }, (_, index): NewPlant[] => {
      const own = ids.slice(1 + 10 * index, 11 + 10 * index)
      // In different orders, which must not deadlock.
      const all = index % 2 === 0 ? [common, ...own] : [...own, common]
      return all.map((id) => ({ id, name: `list ${index}` }))
    })
    const results = await Promise.all(lists.map((plants) => createAll(store, plants)))
    const winner = results.findIndex((result) => !result.includes('conflict'))
    for (const [index, plants] of lists.entries()) {
      t.equal(count(results[index] ?? [], 'created'), index === winner ? 11 : 10)
      const own = plants.filter(({ id }) => id !== common)
      const found = await stored(own.map(({ id }) => id))
      t.strictSame(found, index === winner ? own : own.map(() => undefined))
    }
  })

  t.test('concurrent lists that change each other’s plants are applied one by one', async (t) => {
    const ids = unusedIds(40)
    await createAll(
      store,
      ids.map((id) => ({ id, name: '0' })),
    )
    const lists = Array.from({ length: 12 }, (_, index) => {
      const ordered = index % 2 === 0 ? ids : ids.toReversed()
      const all = ordered.map((id) => ({ id, name: String(index) }))
      return index % 3 === 0 ? removals(ordered) : each('put', all)
    })
    await Promise.all(lists.map((list) => store.apply(list, 'all-or-none')))
    const names = new Set((await stored(ids)).map((plant) => plant?.name))
    t.equal(names.size, 1, 'no list is applied in part, or between the changes of another')
  })

  t.test('lists and creates of the same plants agree', async (t) => {
    const plants = unusedIds(300).map((id) => ({ id, name: `plant ${id}` }))
    const [first, singles, second] = await Promise.all([
      createAll(store, plants),
      Promise.all(plants.map((plant) => store.create(plant))),
      createAll(store, plants.toReversed()),
    ])
    const results = [...first, ...singles, ...second]
    t.notOk(results.includes('conflict'))
    t.equal(count(results, 'created'), plants.length)
  })

  t.test('a list and concurrent creates of other plants have one winner per id', async (t) => {
    const ids = unusedIds(300)
    const [early, listed, late] = await Promise.all([
      Promise.all(ids.slice(0, 200).map((id) => store.create({ id, name: 'created' }))),
      store.apply(
        ids.map((id) => create(id, { name: 'listed' })),
        'each',
      ),
      Promise.all(ids.slice(200).map((id) => store.create({ id, name: 'created' }))),
    ])
    const created = [...early, ...late]
    for (const [index, plant] of (await stored(ids)).entries()) {
      const results = plant?.name === 'created' ? ['created', 'conflict'] : ['conflict', 'created']
      t.strictSame([created[index], listed[index]], results)
    }
  })

  t.test('ids and text are exact in a large list', async (t) => {
    const open = await opener(t, engine)
    const store = await open()
    const ids = [MAX, MIN, ...scatteredIds(19_998)]
    const plants = ids.map((id, index) => ({
      id,
      name: `\u{1f332} plant ${id}`,
      ...(index % 3 > 0 && { tag: index % 3 === 1 ? '' : 'e\u0301' }),
    }))
    t.equal(count(await createAll(store, plants), 'created'), plants.length)
    t.equal(count(await createAll(store, plants.toReversed()), 'replayed'), plants.length)
    samePlants(t, await exported(store), byId(plants))
  })

  t.test(
    'a list counts as its number of changes toward the limit of waiting changes',
    async (t) => {
      const lists = Array.from({ length: 12 }, () => unusedIds(1000).map((id) => ({ id, ...A })))
      const results = await Promise.allSettled(lists.map((plants) => createAll(store, plants)))
      const refused = results.slice(8).map((result) => 'reason' in result && result.reason)
      for (const error of refused) {
        t.ok(error instanceof StoreUnavailable)
        t.match(error, {
          reason: 'busy',
          detail: /^8000 changes with 8000 characters are waiting$/,
        })
      }
      t.same(
        results.slice(0, 8).map(({ status }) => status),
        Array(8).fill('fulfilled'),
      )
    },
  )
}

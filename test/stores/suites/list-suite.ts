import type { Test } from 'tap'
import {
  LIST_TEXT_MAX,
  type NewPlant,
  type Plant,
  type PlantChange,
  type PlantStore,
} from '../../../service/store/plant-store.ts'
import { createAll, each, removals } from '../../helpers/plants/lists.ts'
import { createIn, removeFrom, updateIn } from '../../helpers/plants/single-changes.ts'
import { changesAfter, contentOf, latest, replay } from '../feed-reads.ts'
import {
  byId,
  count,
  EDGES,
  exported,
  MEGABYTE,
  STRINGS,
  samePlants,
  scatteredIds,
} from '../plants.ts'
import { type Engine, opener } from '../store-suite.ts'

const [A, B] = [{ name: 'a' }, { name: 'b', tag: 'x' }]

const create = (id: bigint, plant: Plant): PlantChange => ({ ...plant, id, type: 'create' })
const put = (id: bigint, plant: Plant): PlantChange => ({ ...plant, id, type: 'put' })

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

  t.test('a refused list changes nothing, and leaves nothing in the feed', async (t) => {
    const [taken = 0n, free = 0n] = unusedIds(2)
    await createIn(store, { id: taken, ...A })
    const start = await latest(store)
    const list = [put(taken, B), create(free, A), create(taken, A)]
    t.strictSame(await store.apply(list, 'all-or-none'), ['changed', 'created', 'plant-exists'])
    t.strictSame(await stored([taken, free]), [{ id: taken, ...A }, undefined])
    t.strictSame(await changesAfter(store, start), [])
  })

  t.test('several changes that affect too much text change nothing', async (t) => {
    const ids = unusedIds(9)
    const five = ids.slice(0, 5)
    const plants = ids.map((id) => ({ id, name: MEGABYTE }))
    for (const plant of plants) await createIn(store, plant)
    const start = await latest(store)
    const retag = (tag: string | null) => (id: bigint) =>
      ({ type: 'update', id, patch: { tag } }) as const
    const outcomes = [
      store.apply(removals(ids), 'all-or-none'),
      store.apply(removals(ids), 'each'),
      store.apply(five.map(retag('x')), 'all-or-none'),
      store.apply(
        ids.map((id) => create(id, A)),
        'each',
      ),
      store.apply(
        ids.map((id) => put(id, A)),
        'each',
      ),
    ]
    t.strictSame(await Promise.all(outcomes), Array(5).fill('too-large'))
    t.strictSame(await changesAfter(store, start), [])
    const three = ids.slice(0, 3)
    t.strictSame(await store.apply(three.map(retag('x')), 'all-or-none'), Array(3).fill('changed'))
    // What takes a list back affects as much as the list.
    t.strictSame(await store.apply(three.map(retag(null)), 'all-or-none'), Array(3).fill('changed'))
    await Promise.all(five.map((id) => updateIn(store, id, { tag: 'y' })))
    t.strictSame(
      (await stored(five)).map((plant) => plant?.tag),
      Array(5).fill('y'),
      'single changes are never too large together',
    )
    await Promise.all(ids.map((id) => store.apply(removals([id]), 'all-or-none')))
    t.strictSame(await stored(ids), Array(9).fill(undefined))
  })

  t.test('small lists do not wait for lists of large plants', async (t) => {
    const ids = unusedIds(6)
    for (const id of ids) await createIn(store, { id, name: 'x'.repeat(2 ** 20) })
    const small = unusedIds(200)
    await createAll(
      store,
      small.map((id) => ({ id, ...A })),
    )
    const retag = (id: bigint) => ({ type: 'update', id, patch: { tag: 'x' } }) as const
    const large = [ids.slice(0, 3), ids.slice(3)].map((each) =>
      store.apply(each.map(retag), 'all-or-none'),
    )
    const lists = Array.from({ length: 100 }, (_, index) =>
      store.apply(removals(small.slice(2 * index, 2 * index + 2)), 'all-or-none'),
    )
    t.strictSame(await Promise.all(large), Array(2).fill(Array(3).fill('changed')))
    t.strictSame(await Promise.all(lists), Array(100).fill(['removed', 'removed']))
    t.strictSame(await Promise.all([...ids, ...small].map((id) => removeFrom(store, id))), [
      ...Array(6).fill('removed'),
      ...Array(200).fill('unchanged'),
    ])
  })

  t.test('one change is possible however large the plant is', async (t) => {
    const [id = 0n] = unusedIds(1)
    const name = 'x'.repeat(LIST_TEXT_MAX + 1)
    t.strictSame(await store.apply([create(id, { name })], 'all-or-none'), ['created'])
    t.strictSame(await store.apply([create(id, { name })], 'all-or-none'), ['unchanged'])
    t.strictSame(await store.apply([put(id, A)], 'all-or-none'), ['changed'])
  })

  t.test('the feed has the changes of all lists that are applied at the same time', async (t) => {
    const [id = 0n] = unusedIds(1)
    const start = await latest(store)
    const lists = [[create(id, A)], [put(id, B)], removals([id])]
    const results = await Promise.all(lists.map((list) => store.apply(list, 'all-or-none')))
    t.strictSame(results, [['created'], ['changed'], ['removed']])
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
    const winner = results.findIndex((result) => !result.includes('plant-exists'))
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
      Promise.all(plants.map((plant) => createIn(store, plant))),
      createAll(store, plants.toReversed()),
    ])
    const results = [...first, ...singles, ...second]
    t.notOk(results.includes('plant-exists'))
    t.equal(count(results, 'created'), plants.length)
  })

  t.test('several changes to one plant are made in order', async (t) => {
    const [removed = 0n, enlarged = 0n, ...others] = unusedIds(6)
    const large = { name: 'x'.repeat(5000) }
    const start = await latest(store)
    const list = [
      create(removed, A),
      ...removals([removed]),
      create(enlarged, A),
      put(enlarged, large),
      ...others.map((id) => create(id, B)),
    ]
    t.strictSame(await store.apply(list, 'each'), [
      ...['created', 'removed', 'created', 'changed'],
      ...others.map(() => 'created'),
    ])
    const after = [{ id: enlarged, ...large }, ...others.map((id) => ({ id, ...B }))]
    t.strictSame(await stored([removed, ...after.map(({ id }) => id)]), [undefined, ...after])
    samePlants(t, replay(await changesAfter(store, start)), byId(after))
  })

  t.test('ids and text are exact in a large list', async (t) => {
    const open = await opener(t, engine)
    const store = await open()
    const ids = [...EDGES, ...scatteredIds(2000 - EDGES.length)]
    const plants = ids.map((id, index) => {
      const text = STRINGS[index % STRINGS.length] as string
      const fields = `"note":${JSON.stringify(text)}`
      const plant = { id, name: `${text}\u{1f332}` }
      return index % 3 === 0 ? plant : { ...plant, tag: text, ...(index % 3 === 1 && { fields }) }
    })
    t.equal(count(await createAll(store, plants), 'created'), plants.length)
    t.equal(count(await createAll(store, plants.toReversed()), 'unchanged'), plants.length)
    samePlants(t, await exported(store), byId(plants))
    const start = await latest(store)
    const kept = plants
      .filter((_, index) => index % 4 > 0)
      .map((plant) => ('fields' in plant ? plant : { id: plant.id, ...B }))
    const keptIds = new Set(kept.map(({ id }) => id))
    const removed = ids.filter((id) => !keptIds.has(id))
    await store.apply([...each('put', kept), ...removals(removed)], 'all-or-none')
    samePlants(t, await exported(store), byId(kept))
    samePlants(t, replay(await changesAfter(store, start), plants), byId(kept))
  })
}

import type { Test } from 'tap'
import type { NewPlant, PlantStore } from '../../service/plant-store.ts'
import { StoreUnavailable } from '../../service/plant-store.ts'
import { byId, exported, MAX, MIN, samePlants, scatteredIds } from './plants.ts'
import { type Engine, opener } from './store-suite.ts'

const [A, B] = [{ name: 'a' }, { name: 'b', tag: '' }]

/** The requirements of PlantStore.createAll. */
export function batchSuite(t: Test, engine: Engine): void {
  let store: PlantStore
  let lastId = 0n
  const unusedIds = (count: number) => Array.from({ length: count }, () => ++lastId)
  t.before(async () => {
    const open = await opener(t, engine)
    store = await open()
  })
  const stored = (ids: readonly bigint[]) => Promise.all(ids.map((id) => store.get(id)))

  t.test('a batch is created, then replayed', async (t) => {
    const plants = unusedIds(3).map((id) => ({ id, ...A }))
    t.strictSame(await store.createAll(plants), { created: 3, replayed: 0 })
    t.strictSame(await store.createAll(plants), { created: 0, replayed: 3 })
    t.strictSame(await stored(plants.map(({ id }) => id)), plants)
  })

  t.test('a batch with stored plants creates the others', async (t) => {
    const [one = 0n, two = 0n, three = 0n] = unusedIds(3)
    await store.create({ id: two, ...B })
    const plants = [three, two, one].map((id) => ({ id, ...B }))
    t.strictSame(await store.createAll(plants), { created: 2, replayed: 1 })
    t.strictSame(await stored([three, two, one]), plants)
  })

  t.test('a batch with conflicts names the first one and changes nothing', async (t) => {
    const [one = 0n, two = 0n, three = 0n, four = 0n] = unusedIds(4)
    const before = [
      { id: two, ...A },
      { id: three, ...A },
    ]
    await Promise.all(before.map((plant) => store.create(plant)))
    const plants = [four, three, two, one].map((id) => ({ id, ...B }))
    t.strictSame(await store.createAll(plants), { conflict: three })
    t.strictSame(await stored([one, two, three, four]), [undefined, ...before, undefined])
  })

  t.test('an empty tag conflicts with a missing one', async (t) => {
    const [id = 0n, other = 0n] = unusedIds(2)
    await store.create({ id, name: 'a' })
    const plants = [
      { id: other, ...A },
      { id, name: 'a', tag: '' },
    ]
    t.strictSame(await store.createAll(plants), { conflict: id })
    t.equal(await store.get(other), undefined)
  })

  t.test('a conflict does not affect changes that are made at the same time', async (t) => {
    const [taken = 0n, free = 0n, own = 0n, last = 0n] = unusedIds(4)
    await store.create({ id: taken, ...A })
    const results = await Promise.all([
      store.create({ id: own, ...A }),
      store.createAll([
        { id: free, ...B },
        { id: taken, ...B },
      ]),
      store.createAll([
        { id: last, ...B },
        { id: taken, ...A },
      ]),
      store.update(taken, {}),
    ])
    t.strictSame(results, [
      'created',
      { conflict: taken },
      { created: 1, replayed: 1 },
      { id: taken, ...A },
    ])
    t.strictSame(await stored([free, own, last]), [
      undefined,
      { id: own, ...A },
      { id: last, ...B },
    ])
  })

  t.test('of concurrent batches with a common plant, one is created completely', async (t) => {
    const ids = unusedIds(201)
    const [common = 0n] = ids
    const batches = Array.from({ length: 20 }, (_, index): NewPlant[] => {
      const own = ids.slice(1 + 10 * index, 11 + 10 * index)
      // In different orders, which must not deadlock.
      const all = index % 2 === 0 ? [common, ...own] : [...own, common]
      return all.map((id) => ({ id, name: `batch ${index}` }))
    })
    const results = await Promise.all(batches.map((plants) => store.createAll(plants)))
    const winner = results.findIndex((result) => 'created' in result)
    for (const [index, plants] of batches.entries()) {
      t.strictSame(
        results[index],
        index === winner ? { created: 11, replayed: 0 } : { conflict: common },
      )
      const own = plants.filter(({ id }) => id !== common)
      const found = await stored(own.map(({ id }) => id))
      t.strictSame(found, index === winner ? own : own.map(() => undefined))
    }
  })

  t.test('batches and creates of the same plants agree', async (t) => {
    const plants = unusedIds(300).map((id) => ({ id, name: `plant ${id}` }))
    const [first, singles, second] = await Promise.all([
      store.createAll(plants),
      Promise.all(plants.map((plant) => store.create(plant))),
      store.createAll(plants.toReversed()),
    ])
    const count = (result: object) => ('created' in result ? Number(result.created) : Number.NaN)
    const created = singles.filter((result) => result === 'created').length
    t.notOk(singles.includes('conflict'))
    t.equal(count(first) + created + count(second), plants.length)
  })

  t.test('ids and text are exact in a batch of the maximum size', async (t) => {
    const open = await opener(t, engine)
    const store = await open()
    const ids = [MAX, MIN, ...scatteredIds(998)]
    const plants = ids.map((id, index) => ({
      id,
      name: `\u{1f332} plant ${id}`,
      ...(index % 3 > 0 && { tag: index % 3 === 1 ? '' : 'e\u0301' }),
    }))
    t.strictSame(await store.createAll(plants), { created: 1000, replayed: 0 })
    t.strictSame(await store.createAll(plants.toReversed()), { created: 0, replayed: 1000 })
    samePlants(t, await exported(store), byId(plants))
  })

  t.test(
    'a batch counts as its number of plants toward the limit of waiting changes',
    async (t) => {
      const batches = Array.from({ length: 12 }, () => unusedIds(1000).map((id) => ({ id, ...A })))
      const results = await Promise.allSettled(batches.map((plants) => store.createAll(plants)))
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

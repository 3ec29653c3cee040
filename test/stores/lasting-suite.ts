import type { Test } from 'tap'
import { contentVersion } from '../../service/plant-store.ts'
import { importPlants } from '../../src/transfer/import.ts'
import { byId, count, exported, pageWith, STRINGS, samePlants, scatteredIds } from './plants.ts'
import { type Engine, opener } from './store-suite.ts'

/** The requirements of PlantStore for data that outlives a store, or is shared by several. */
export function lastingSuite(t: Test, engine: Engine): void {
  t.test('changes survive closing and reopening the store', async (t) => {
    const open = await opener(t, engine)
    const plants = byId(STRINGS.map((tag, index) => ({ id: BigInt(index), name: 'x', tag })))
    const imported = scatteredIds(1000).map((id) => ({ id, name: `plant ${id}` }))
    const before = await open()
    const removed = { id: -1n, name: 'x' }
    await Promise.all([...plants, removed].map((plant) => before.create(plant)))
    await importPlants(before, imported, 'stop')
    await before.update(0n, { name: 'changed', tag: null })
    await before.remove(removed.id)
    await before.close()
    const after = await open()
    const expected = [{ id: 0n, name: 'changed' }, ...plants.slice(1), ...imported]
    samePlants(t, await exported(after), byId(expected))
    t.equal(await after.create({ id: 1n, name: 'other' }), 'conflict')
  })

  t.test('close completes the changes in flight', async (t) => {
    const open = await opener(t, engine)
    const store = await open()
    await importPlants(
      store,
      [0n, 1n].map((id) => ({ id, name: 'x' })),
      'stop',
    )
    const creates = Array.from({ length: 2000 }, (_, index) =>
      store.create({ id: BigInt(index) + 2n, name: 'x' }),
    )
    const update = store.update(0n, { name: 'y' }, [contentVersion({ name: 'x' })])
    const removal = store.remove(1n)
    const imported = importPlants(store, [{ id: -1n, name: 'x' }], 'stop')
    await store.close()
    t.equal(count(await Promise.all(creates), 'created'), 2000)
    t.strictSame(await update, { id: 0n, name: 'y' })
    t.equal(await removal, 'removed')
    t.same(await imported, ['created'])
  })

  t.test('stores that share a database', (t) => severalStores(t, engine))
}

async function severalStores(t: Test, engine: Engine): Promise<void> {
  const open = await opener(t, engine)
  const stores = [await open(), await open(), await open()] as const
  const [one, other] = stores

  t.test('see changes of other stores at once', async (t) => {
    for (let id = 1n; id < 10n; id++) {
      const plant = { id, name: 'x', tag: `shared ${id}` }
      t.equal(await one.create(plant), 'created')
      t.strictSame(await other.get(id), plant)
      t.strictSame(await other.list({ tag: plant.tag, limit: 1 }), pageWith([plant]))
      t.equal(await other.create(plant), 'replayed')
      t.strictSame(await other.update(id, { tag: null }), { id, name: 'x' })
      t.strictSame(await one.get(id), { id, name: 'x' })
      t.equal(await one.create(plant), 'conflict')
      t.equal(await one.remove(id), 'removed')
      t.equal(await other.get(id), undefined)
      t.strictSame(await importPlants(other, [plant], 'stop'), ['created'])
      t.strictSame(await one.get(id), plant)
    }
  })

  t.test('see either all or nothing of an import by another store', async (t) => {
    const tag = 'imported together'
    const plants = byId(scatteredIds(5000).map((id) => ({ id, name: 'x', tag })))
    const [first, last] = [plants[0], plants.at(-1)].map((plant) => plant?.id ?? 0n)
    let importing = true
    const results = importPlants(one, plants, 'stop').finally(() => {
      importing = false
    })
    while (importing) {
      const begun = await other.get(first as bigint)
      const ended = await other.get(last as bigint)
      if (begun && !ended) t.fail('the first plant is visible, but not the last one')
      await new Promise(setImmediate)
    }
    t.equal(count(await results, 'created'), plants.length)
  })

  t.test('import the same ids concurrently in opposite orders without a deadlock', async (t) => {
    const ids = Array.from({ length: 500 }, (_, index) => BigInt(index) + 5000n)
    const results = await Promise.all([
      importPlants(
        one,
        ids.map((id) => ({ id, name: 'by one' })),
        'keep',
      ),
      importPlants(
        other,
        ids.toReversed().map((id) => ({ id, name: 'by other' })),
        'keep',
      ),
    ])
    t.equal(count(results.flat(), 'created'), ids.length)
    t.equal(count(results.flat(), 'kept'), ids.length)
  })
}

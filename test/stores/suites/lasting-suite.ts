import type { Test } from 'tap'
import { contentVersion } from '../../../service/store/content-version.ts'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { createIn, removeFrom, updateIn } from '../../helpers/plants/single-changes.ts'
import { byId, count, exported, STRINGS, samePlants, scatteredIds } from '../plants.ts'
import { type Engine, opener } from '../store-suite.ts'

/** The requirements of PlantStore for data that outlives a store, or is shared by several. */
export function lastingSuite(t: Test, engine: Engine): void {
  t.test('changes survive closing and reopening the store', async (t) => {
    const open = await opener(t, engine)
    const plants = byId(STRINGS.map((tag, index) => ({ id: BigInt(index), name: 'x', tag })))
    const imported = scatteredIds(1000).map((id) => ({ id, name: `plant ${id}` }))
    const before = await open()
    const removed = { id: -1n, name: 'x' }
    await Promise.all([...plants, removed].map((plant) => createIn(before, plant)))
    await importPlants(before, imported, 'stop')
    await updateIn(before, 0n, { name: 'changed', tag: null })
    await removeFrom(before, removed.id)
    await before.close()
    const after = await open()
    const expected = [{ id: 0n, name: 'changed' }, ...plants.slice(1), ...imported]
    samePlants(t, await exported(after), byId(expected))
    t.equal(await createIn(after, { id: 1n, name: 'other' }), 'plant-exists')
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
      createIn(store, { id: BigInt(index) + 2n, name: 'x' }),
    )
    const update = updateIn(store, 0n, { name: 'y' }, [contentVersion({ name: 'x' })])
    const removal = removeFrom(store, 1n)
    const imported = importPlants(store, [{ id: -1n, name: 'x' }], 'stop')
    await store.close()
    t.equal(count(await Promise.all(creates), 'created'), 2000)
    t.strictSame(await update, { id: 0n, name: 'y' })
    t.equal(await removal, 'removed')
    t.same(await imported, ['created'])
  })
}

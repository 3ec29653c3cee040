import type { Test } from 'tap'
import { COUNT_MAX, type PlantStore, SEARCH_MAX } from '../../service/plant-store.ts'
import { importPlants } from '../../src/transfer/import.ts'
import { MEGABYTE } from './plants.ts'
import { type Engine, opener } from './store-suite.ts'

/** The requirements of PlantStore.count for large stores. What it counts must be limited. */
export async function countSuite(t: Test, engine: Engine): Promise<void> {
  const open = await opener(t, engine)
  const store: PlantStore = await open()
  const many = Array.from({ length: COUNT_MAX }, (_, index) => {
    const id = BigInt(index)
    return index % 2 === 0 ? { id, name: 'x', tag: 'even' } : { id, name: 'x' }
  })
  const large = Array.from({ length: 12 }, (_, index) => ({
    id: BigInt(COUNT_MAX + index),
    name: MEGABYTE,
    tag: 'large',
  }))
  // In parts that a busy machine stores in time.
  for (let at = 0; at < COUNT_MAX; at += 20_000) {
    await importPlants(store, many.slice(at, at + 20_000), 'stop')
  }
  await importPlants(store, large, 'stop')

  t.test('have exact counts if few plants are selected', async (t) => {
    t.strictSame(await store.count({ text: '', tag: 'even' }), {
      plants: COUNT_MAX / 2,
      isExact: true,
    })
    t.strictSame(await store.count({ text: '', tag: 'large' }), { plants: 12, isExact: true })
  })

  t.test('have counts of at least as many plants as were examined', async (t) => {
    t.strictSame(await store.count({ text: '' }), { plants: COUNT_MAX, isExact: false })
    t.strictSame(await store.count({ text: 'X' }), { plants: SEARCH_MAX.plants, isExact: false })
    t.strictSame(await store.count({ text: 'x', tag: 'even' }), {
      plants: SEARCH_MAX.plants,
      isExact: false,
    })
    t.strictSame(await store.count({ text: 'none' }), { plants: 0, isExact: false })
    t.strictSame(await store.count({ text: 'x', tag: null }), {
      plants: SEARCH_MAX.plants / 2,
      isExact: false,
    })
    const untagged = await store.count({ text: '', tag: null })
    t.equal(untagged.isExact, false)
    t.ok(untagged.plants >= COUNT_MAX / 2 - large.length && untagged.plants <= COUNT_MAX / 2)
  })

  t.test('are limited in the text that is counted at once', async (t) => {
    const { plants, isExact } = await store.count({ text: '\u{1f331}', tag: 'large' })
    t.equal(isExact, false)
    t.ok(plants > 0 && plants < large.length)
  })
}

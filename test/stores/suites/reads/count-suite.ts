import type { Test } from 'tap'
import { COUNT_MAX, type PlantStore, SEARCH_MAX } from '../../../../service/store/plant-store.ts'
import { importPlants } from '../../../helpers/plants/import-plants.ts'
import { MAX, MEGABYTE } from '../../plants.ts'
import { type Engine, opener } from '../../store-suite.ts'

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

  t.test('are counted at once if few plants are selected', async (t) => {
    t.strictSame(await store.count({ tag: 'even' }), {
      found: COUNT_MAX / 2,
      next: undefined,
    })
    t.strictSame(await store.count({ tag: 'large' }), { found: 12, next: undefined })
  })

  t.test('are counted in ranges', async (t) => {
    const { plants: examined } = SEARCH_MAX
    const searched = BigInt(examined) - 1n
    for (const [request, found, next] of [
      [{}, COUNT_MAX, BigInt(COUNT_MAX) - 1n],
      [{ after: 4n }, COUNT_MAX, BigInt(COUNT_MAX) + 4n],
      [{ after: BigInt(COUNT_MAX) - 1n }, large.length, undefined],
      [{ after: MAX }, 0, undefined],
      [{ tag: null }, COUNT_MAX / 2, BigInt(COUNT_MAX) - 1n],
      [{ words: ['x'] }, examined, searched],
      [{ words: ['x'], after: MAX }, 0, undefined],
      [{ words: ['x'], tag: 'even' }, examined, 2n * searched],
      [{ words: ['none'] }, 0, searched],
      [{ words: ['x'], tag: null }, examined / 2, searched],
    ] as const) {
      t.strictSame(await store.count(request), { found, next }, JSON.stringify(request, exact))
    }
  })

  t.test('are limited in the text that is counted at once', async (t) => {
    const request = { words: ['\u{1f331}'], tag: 'large' }
    t.strictSame(await store.count(request), { found: 1, next: BigInt(COUNT_MAX) })
  })
}

const exact = (_key: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)

import type { Test } from 'tap'
import type { StoredPlant } from '../../../service/store/plant-store.ts'
import type { Store } from '../../../src/stores/shared/store.ts'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { createIn, removeFrom, updateIn } from '../../helpers/plants/single-changes.ts'
import { byId, exported, MAX, MIN, STRINGS, samePlants, scatteredIds } from '../plants.ts'
import { type Engine, opener } from '../store-suite.ts'

/** More than one batch. */
const PLANTS = byId([
  { id: MIN, name: 'first', tag: '' },
  ...scatteredIds(2500).map((id, index) => textsOf(id, index)),
  { id: MAX, name: 'last' },
])

/** More than a store has connections. */
const ABANDONED = 12

/** The requirements of PlantStore.exportPlants. Each test leaves the store with PLANTS. */
export function exportSuite(t: Test, engine: Engine): void {
  let store: Store
  t.before(async () => {
    const open = await opener(t, engine)
    store = await open()
    await importPlants(store, PLANTS, 'stop')
  })

  t.test('an export returns every plant, sorted by id, in batches', async (t) => {
    const parts = await Array.fromAsync(store.exportPlants())
    samePlants(t, parts.flat(), PLANTS)
    t.ok(parts.length > 1)
    t.ok(parts.every((plants) => plants.length > 0))
  })

  t.test('an export is a snapshot of its first read', async (t) => {
    const late = { id: MAX - 1n, name: 'created before the first read' }
    const plants = byId([...PLANTS, late])
    const [last, earlier] = [PLANTS.at(-1), PLANTS.at(-2)] as [StoredPlant, StoredPlant]
    const parts = store.exportPlants()[Symbol.asyncIterator]()
    t.equal(await createIn(store, late), 'created')
    const found = [...((await parts.next()).value ?? [])]
    t.ok(found.length > 0 && found.length < PLANTS.length - 2)

    t.equal(await removeFrom(store, earlier.id), 'removed')
    t.strictSame(await updateIn(store, last.id, { name: 'changed' }), { ...last, name: 'changed' })
    t.equal(await removeFrom(store, late.id), 'removed')
    t.equal(await createIn(store, { id: late.id, name: 'another' }), 'created')
    t.strictSame(await importPlants(store, [earlier], 'stop'), ['created'])
    const now = byId([
      ...PLANTS.slice(0, -1),
      { ...last, name: 'changed' },
      { ...late, name: 'another' },
    ])
    samePlants(t, await exported(store), now)

    for (let part = await parts.next(); !part.done; part = await parts.next()) {
      found.push(...part.value)
      await updateIn(store, last.id, { name: `changed at ${found.length}` })
    }
    samePlants(t, found, plants)
    await importPlants(store, [last], 'replace')
    await removeFrom(store, late.id)
    samePlants(t, await exported(store), PLANTS)
  })

  t.test('abandoned exports release their resources', async (t) => {
    for (let time = 0; time < ABANDONED; time++) {
      for await (const plants of store.exportPlants()) {
        samePlants(t, plants, PLANTS.slice(0, plants.length))
        break
      }
    }
    const failing = async () => {
      for await (const _ of store.exportPlants()) throw new Error('thrown by the reader')
    }
    await t.rejects(failing(), { message: 'thrown by the reader' })
    await updateIn(store, MAX, { name: 'last' })
    samePlants(t, await exported(store), PLANTS)
  })

  t.test('a store closes despite an abandoned export', async (t) => {
    const open = await opener(t, engine)
    const other = await open()
    await importPlants(other, PLANTS, 'replace')
    for await (const _ of other.exportPlants()) break
    await t.resolves(other.close())
  })

  t.test('concurrent exports are independent', async (t) => {
    const all = await Promise.all([exported(store), exported(store), exported(store)])
    for (const each of all) samePlants(t, each, PLANTS)
  })
}

function textsOf(id: bigint, index: number): StoredPlant {
  const text = STRINGS[index % STRINGS.length] ?? ''
  return index % 2 === 0 ? { id, name: text } : { id, name: `${text} ${index}`, tag: text }
}

import type { Test } from 'tap'
import type { StoredPlant } from '../../service/plant-store.ts'
import { byId, exported, MAX, MIN, samePlants, scatteredIds, TEXTS } from './plants.ts'
import { type Engine, opener, type Store } from './store-suite.ts'

/** More than a store reads at a time. */
const PLANTS = byId([
  { id: MIN, name: 'first', tag: '' },
  ...scatteredIds(5000).map((id, index) => textsOf(id, index)),
  { id: MAX, name: 'last' },
])

/** What PlantStore says of exporting. Each test leaves the store with the PLANTS. */
export function exportSuite(t: Test, engine: Engine): void {
  let store: Store
  t.before(async () => {
    const open = await opener(t, engine)
    store = await open()
    await store.importPlants(PLANTS, 'stop')
  })

  t.test('an export has every plant, equal, by id, some at a time', async (t) => {
    const parts = await Array.fromAsync(store.exportPlants())
    samePlants(t, parts.flat(), PLANTS)
    t.ok(parts.length > 1)
    t.ok(parts.every((plants) => plants.length > 0))
  })

  t.test('it has the plants of the moment of its first read, whatever changes', async (t) => {
    const late = { id: MAX - 1n, name: 'created before the first read' }
    const plants = byId([...PLANTS, late])
    const [last, earlier] = [PLANTS.at(-1), PLANTS.at(-2)] as [StoredPlant, StoredPlant]
    const parts = store.exportPlants()[Symbol.asyncIterator]()
    t.equal(await store.create(late), 'created')
    const found = [...((await parts.next()).value ?? [])]
    t.ok(found.length > 0 && found.length < PLANTS.length - 2)

    t.equal(await store.remove(earlier.id), 'removed')
    t.strictSame(await store.update(last.id, { name: 'changed' }), { ...last, name: 'changed' })
    t.equal(await store.remove(late.id), 'removed')
    t.equal(await store.create({ id: late.id, name: 'another' }), 'created')
    t.strictSame(await store.importPlants([earlier], 'stop'), ['created'])
    const now = byId([
      ...PLANTS.slice(0, -1),
      { ...last, name: 'changed' },
      { ...late, name: 'another' },
    ])
    samePlants(t, await exported(store), now)

    for (let part = await parts.next(); !part.done; part = await parts.next()) {
      found.push(...part.value)
      await store.update(last.id, { name: `changed at ${found.length}` })
    }
    samePlants(t, found, plants)
    await store.importPlants([last], 'replace')
    await store.remove(late.id)
    samePlants(t, await exported(store), PLANTS)
  })

  t.test('any number that nobody reads to the end leaves the store as it is', async (t) => {
    for (let time = 0; time < 30; time++) {
      for await (const plants of store.exportPlants()) {
        samePlants(t, plants, PLANTS.slice(0, plants.length))
        break
      }
    }
    const failing = async () => {
      for await (const _ of store.exportPlants()) throw new Error('of the reader')
    }
    await t.rejects(failing(), { message: 'of the reader' })
    await store.update(MAX, { name: 'last' })
    samePlants(t, await exported(store), PLANTS)
  })

  t.test('one that nobody reads to the end keeps no store from closing', async (t) => {
    const open = await opener(t, engine)
    const other = await open()
    await other.importPlants(PLANTS, 'replace')
    for await (const _ of other.exportPlants()) break
    await t.resolves(other.close())
  })

  t.test('several at once have what they would have alone', async (t) => {
    const all = await Promise.all([exported(store), exported(store), exported(store)])
    for (const each of all) samePlants(t, each, PLANTS)
  })
}

function textsOf(id: bigint, index: number): StoredPlant {
  const text = TEXTS[index % TEXTS.length] ?? ''
  return index % 2 === 0 ? { id, name: text } : { id, name: `${text} ${index}`, tag: text }
}

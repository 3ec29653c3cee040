import type { Test } from 'tap'
import { contentVersion } from '../../../service/store/content-version.ts'
import type { Plant, PlantStore } from '../../../service/store/plant-store.ts'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { createIn, removeFrom, updateIn } from '../../helpers/plants/single-changes.ts'
import { count, EDGES, STRINGS, samePlants } from '../plants.ts'
import { type Engine, opener } from '../store-suite.ts'

const STALE = contentVersion({ name: 'stale' })

const CONTENTS: readonly Plant[] = [
  { name: 'a', tag: 'x' },
  { name: 'a', tag: '' },
  { name: 'a' },
  { name: 'a', fields: '"height":1' },
]

/** The requirements of PlantStore.update and remove. */
export function changeSuite(t: Test, engine: Engine): void {
  let store: PlantStore
  /** Not one of EDGES. */
  let lastId = 1000n
  t.before(async () => {
    const open = await opener(t, engine)
    store = await open()
  })

  const stored = async (plant: Plant) => {
    const id = ++lastId
    await createIn(store, { id, ...plant })
    return id
  }

  t.test('an update keeps text exactly, for any id', async (t) => {
    const plants = STRINGS.map((text, index) => ({
      id: EDGES[index] ?? ++lastId,
      name: text,
      tag: text,
    }))
    const before = plants.map(({ id }) => ({ id, name: 'before' }))
    await importPlants(store, before, 'replace')
    const updates = plants.map(({ id, name, tag }) => updateIn(store, id, { name, tag }))
    t.strictSame(await Promise.all(updates), plants)
    samePlants(t, await Promise.all(plants.map(({ id }) => store.get(id))), plants)
    const removals = await Promise.all(plants.map(({ id }) => removeFrom(store, id)))
    t.equal(count(removals, 'removed'), plants.length)
    const found = await Promise.all(plants.map(({ id }) => store.get(id)))
    t.equal(count(found, undefined), plants.length)
  })

  for (const plant of CONTENTS) {
    t.test(`only the expected content ${JSON.stringify(plant)} is changed`, async (t) => {
      const id = await stored(plant)
      for (const other of CONTENTS.filter((each) => each !== plant)) {
        const expected = { id, ...other, clears: '"height":null' }
        t.equal(await updateIn(store, id, { name: 'b' }, expected), 'plant-changed')
        t.equal(await removeFrom(store, id, expected), 'plant-changed')
        const list = [{ type: 'remove', id, expected }] as const
        t.strictSame(await store.apply(list, 'all-or-none'), ['plant-changed'])
      }
      t.strictSame(await store.get(id), { id, ...plant })
      // Fields that are neither expected nor expected to be missing do not matter.
      const fields = plant.fields === undefined ? '"height":2' : `${plant.fields},"light":"sun"`
      const lighter = await updateIn(store, id, { fields }, { id, ...plant })
      t.strictSame(lighter, { id, ...plant, fields })
      t.match(await updateIn(store, id, { name: 'b' }, { id, ...plant }), { name: 'b' })
      const expected = { id, ...plant, name: 'b' }
      t.strictSame(await store.apply([{ type: 'remove', id, expected }], 'all-or-none'), [
        'removed',
      ])
      t.equal(await removeFrom(store, id, expected), 'plant-not-found')
    })
  }

  for (const plant of [{ name: 'a', tag: 'x' }, { name: 'a', tag: '' }, { name: 'a' }]) {
    t.test(`only the expected version of ${JSON.stringify(plant)} is changed`, async (t) => {
      const id = await stored(plant)
      const current = contentVersion(plant)
      const others = [{ name: 'a', tag: 'x' }, { name: 'a', tag: '' }, { name: 'a' }]
        .map(contentVersion)
        .filter((version) => version !== current)
      for (const expected of [[], [STALE], others, [current.toUpperCase()], ['*'], ['']]) {
        t.equal(await updateIn(store, id, { name: 'b', tag: 'y' }, expected), 'plant-changed')
        t.equal(await removeFrom(store, id, expected), 'plant-changed')
      }
      t.strictSame(await store.get(id), { id, ...plant })
      const updated = { id, name: 'b', tag: 'y' }
      t.strictSame(
        await updateIn(store, id, { name: 'b', tag: 'y' }, [...others, current]),
        updated,
      )
      t.equal(await removeFrom(store, id, [current, ...others]), 'plant-changed')
      t.strictSame(await store.get(id), updated)
      t.equal(await removeFrom(store, id, [current, contentVersion(updated), STALE]), 'removed')
      t.equal(await store.get(id), undefined)
    })
  }
}

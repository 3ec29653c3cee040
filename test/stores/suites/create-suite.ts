import type { Test } from 'tap'
import type { PlantStore } from '../../../service/store/plant-store.ts'
import { createIn } from '../../helpers/plants/single-changes.ts'
import { count, EDGES, MEGABYTE, STRINGS } from '../plants.ts'
import { type Engine, opener } from '../store-suite.ts'

/** The requirements of PlantStore.create. */
export function createSuite(t: Test, engine: Engine): void {
  let store: PlantStore
  let lastId = 0n
  const unusedId = () => ++lastId
  t.before(async () => {
    const open = await opener(t, engine)
    store = await open()
  })

  t.test('ids are exact over the whole range of int64', async (t) => {
    const ids = EDGES.filter((id) => id <= 0n || id > 1000n)
    for (const expected of ['created', 'unchanged']) {
      const results = ids.map((id) => createIn(store, { id, name: `plant ${id}` }))
      t.same(await Promise.all(results), Array(ids.length).fill(expected))
    }
  })

  t.test('text is kept exactly, and similar strings are distinct', async (t) => {
    const plants = STRINGS.map((text) => ({ id: unusedId(), name: text, tag: text }))
    const creates = plants.map((plant) => createIn(store, plant))
    t.same(await Promise.all(creates), Array(STRINGS.length).fill('created'))
    for (const [index, { id }] of plants.entries()) {
      const expected = STRINGS.map((_, other) => (other === index ? 'unchanged' : 'plant-exists'))
      const names = STRINGS.map((name) =>
        createIn(store, { id, name, tag: STRINGS[index] as string }),
      )
      t.same(await Promise.all(names), expected, `name ${index}`)
      const tags = STRINGS.map((tag) =>
        createIn(store, { id, name: STRINGS[index] as string, tag }),
      )
      t.same(await Promise.all(tags), expected, `tag ${index}`)
    }
  })

  t.test('a megabyte of text is kept exactly', async (t) => {
    const plant = { id: unusedId(), name: MEGABYTE, tag: MEGABYTE }
    t.equal(await createIn(store, plant), 'created')
    t.equal(await createIn(store, plant), 'unchanged')
    t.equal(await createIn(store, { ...plant, name: `${MEGABYTE}.` }), 'plant-exists')
    t.equal(await createIn(store, { ...plant, tag: MEGABYTE.slice(2) }), 'plant-exists')
  })

  t.test('a create of a large plant that exists does not wait for later ones', async (t) => {
    const ids = Array.from({ length: 12 }, unusedId)
    const [first = 0n, ...others] = ids
    const name = 'x'.repeat(2 ** 20)
    await createIn(store, { id: first, name: `${name}.` })
    for (const id of others) await createIn(store, { id, name })
    const answered: bigint[] = []
    const results = ids.map(async (id) => {
      const result = await createIn(store, { id, name: 'x' })
      answered.push(id)
      return result
    })
    t.same(await Promise.all(results), Array(12).fill('plant-exists'))
    t.equal(answered[0], first)
  })

  t.test('exactly one of a thousand concurrent creates of an id is stored', async (t) => {
    const id = unusedId()
    const plants = Array.from({ length: 1000 }, (_, index) => ({ id, name: `plant ${index}` }))
    const results = await Promise.all(plants.map((plant) => createIn(store, plant)))
    t.equal(count(results, 'created'), 1)
    t.equal(count(results, 'plant-exists'), 999)
    const again = await Promise.all(plants.map((plant) => createIn(store, plant)))
    t.equal(count(again, 'unchanged'), 1)
    t.equal(again.indexOf('unchanged'), results.indexOf('created'))
  })

  t.test('ping resolves', (t) => t.resolves(store.ping()))
}

import fc from 'fast-check'
import type { Test } from 'tap'
import type { CreateResult, NewPlant, PlantStore } from '../../service/plant-store.ts'
import { type Engine, opener } from './store-suite.ts'

const MAX = 2n ** 63n - 1n
const MIN = -(2n ** 63n)
const SAFE = 2n ** 53n

/** Texts that a careless store takes for another of them. */
const TEXTS = [
  ...['', ' ', '  ', '\t', '\n', 'x', ' x', 'x ', 'x\n', 'X', 'null', '0', '1', '1.0', '01'],
  ...['\u00e9', 'e\u0301', '\u00c9', 'e', '\u212b', '\u00c5', 'A\u030a', '\ufb01', 'fi'],
  ...['\u{1f331}', '\u{1d49c}', '\u{10ffff}', '\ufffd', '\ufeff', '\ufeffx', '\uffff'],
  ...['\u0001', '\u007f', '\u0085', '\u2028', "'", "''", '"', '\\', '\\x00', '%', '_', '$1', '?'],
]

const MEGABYTE = '\u{1f331}'.repeat(2 ** 18)

/** What PlantStore says, clause by clause. Without a way to read, replays tell what is stored. */
export function plantSuite(t: Test, engine: Engine): void {
  let store: PlantStore
  let lastId = 0n
  const unusedId = () => ++lastId
  t.before(async () => {
    const open = await opener(t, engine)
    store = await open()
  })

  for (const [what, first] of [
    ['with a tag', { name: 'a', tag: 'x' }],
    ['with an empty tag', { name: 'a', tag: '' }],
    ['without a tag', { name: 'a' }],
  ] as const) {
    t.test(`a plant ${what} is created, then replayed, and conflicts with any other`, async (t) => {
      const id = unusedId()
      const others: Omit<NewPlant, 'id'>[] = [
        { name: 'b' },
        { ...first, name: 'b' },
        { ...first, name: '' },
        ...[{ tag: 'x' }, { tag: 'y' }, { tag: 'a' }, { tag: '' }, {}]
          .map((tag) => ({ name: 'a', ...tag }))
          .filter(({ tag }) => tag !== ('tag' in first ? first.tag : undefined)),
      ]
      t.equal(await store.create({ id, ...first }), 'created')
      t.equal(await store.create({ id, ...first }), 'replayed')
      for (const other of others) t.equal(await store.create({ id, ...other }), 'conflict')
      t.equal(await store.create({ id, ...first }), 'replayed', 'the first stays')
    })
  }

  t.test('ids are exact over all of int64', async (t) => {
    const around = [MIN, -SAFE, 0n, SAFE, MAX].flatMap((id) => [id - 1n, id, id + 1n])
    const ids = [...around, -(2n ** 31n), 2n ** 31n, 2n ** 32n, -(2n ** 62n)]
      .filter((id) => id >= MIN && id <= MAX)
      .filter((id) => id <= 0n || id > 1000n)
    for (const expected of ['created', 'replayed']) {
      const results = ids.map((id) => store.create({ id, name: `plant ${id}` }))
      t.same(await Promise.all(results), Array(ids.length).fill(expected))
    }
  })

  t.test(
    'text is kept code point for code point, and no two texts are taken for one',
    async (t) => {
      const plants = TEXTS.map((text) => ({ id: unusedId(), name: text, tag: text }))
      const creates = plants.map((plant) => store.create(plant))
      t.same(await Promise.all(creates), Array(TEXTS.length).fill('created'))
      for (const [index, { id }] of plants.entries()) {
        const expected = TEXTS.map((_, other) => (other === index ? 'replayed' : 'conflict'))
        const names = TEXTS.map((name) => store.create({ id, name, tag: TEXTS[index] as string }))
        t.same(await Promise.all(names), expected, `name ${index}`)
        const tags = TEXTS.map((tag) => store.create({ id, name: TEXTS[index] as string, tag }))
        t.same(await Promise.all(tags), expected, `tag ${index}`)
      }
    },
  )

  t.test('a megabyte of text is kept to its last character', async (t) => {
    const plant = { id: unusedId(), name: MEGABYTE, tag: MEGABYTE }
    t.equal(await store.create(plant), 'created')
    t.equal(await store.create(plant), 'replayed')
    t.equal(await store.create({ ...plant, name: `${MEGABYTE}.` }), 'conflict')
    t.equal(await store.create({ ...plant, tag: MEGABYTE.slice(2) }), 'conflict')
  })

  t.test('of a thousand concurrent creates of one id exactly one wins and is stored', async (t) => {
    const id = unusedId()
    const plants = Array.from({ length: 1000 }, (_, index) => ({ id, name: `plant ${index}` }))
    const results = await Promise.all(plants.map((plant) => store.create(plant)))
    t.equal(count(results, 'created'), 1)
    t.equal(count(results, 'conflict'), 999)
    const again = await Promise.all(plants.map((plant) => store.create(plant)))
    t.equal(count(again, 'replayed'), 1)
    t.equal(again.indexOf('replayed'), results.indexOf('created'))
  })

  t.test(
    'of a thousand concurrent creates of one plant one creates, all others replay',
    async (t) => {
      const plant = { id: unusedId(), name: 'the same', tag: '' }
      const results = await Promise.all(Array.from({ length: 1000 }, () => store.create(plant)))
      t.equal(count(results, 'created'), 1)
      t.equal(count(results, 'replayed'), 999)
    },
  )

  t.test('any number of plants that arrive together are all created', async (t) => {
    const plants = Array.from({ length: 3000 }, () => ({ id: unusedId(), name: 'together' }))
    const results = await Promise.all(plants.map((plant) => store.create(plant)))
    t.equal(count(results, 'created'), 3000)
  })

  t.test('any sequence of creates, alone and together, has the results of a map', async () => {
    const text = fc.oneof(
      fc.constantFrom('', 'a', '\u00e9', 'e\u0301'),
      fc.string({ unit: 'binary' }).filter((value) => !value.includes('\0')),
    )
    const create = fc.record(
      { id: fc.integer({ min: 1, max: 3 }), name: text, tag: text },
      { requiredKeys: ['id', 'name'] },
    )
    const together = fc.array(create, { minLength: 1, maxLength: 6 })
    const sequence = fc.array(together, { minLength: 1, maxLength: 6 })
    const property = fc.asyncProperty(sequence, async (batches) => {
      const model = new Map<bigint, NewPlant>()
      const first = lastId
      lastId += 3n
      for (const batch of batches) {
        const plants = batch.map((plant) => ({ ...plant, id: first + BigInt(plant.id) }))
        checkByModel(model, plants, await Promise.all(plants.map((plant) => store.create(plant))))
      }
    })
    await fc.assert(property, { numRuns: 60 })
  })

  t.test('a store that works passes the check', (t) => t.resolves(store.check()))

  if (engine.lasting) lastingPlants(t, engine)
}

function lastingPlants(t: Test, engine: Engine): void {
  t.test('what was created is there after the store was closed and opened again', async (t) => {
    const open = await opener(t, engine)
    const plants = TEXTS.map((tag, index) => ({ id: BigInt(index), name: 'x', tag }))
    const before = await open()
    await Promise.all(plants.map((plant) => before.create(plant)))
    await before.close()
    const after = await open()
    const results = await Promise.all(plants.map((plant) => after.create(plant)))
    t.equal(count(results, 'replayed'), plants.length)
    t.equal(await after.create({ id: 1n, name: 'other' }), 'conflict')
  })

  t.test('what was asked for before the close is done by it', async (t) => {
    const open = await opener(t, engine)
    const store = await open()
    const results = Array.from({ length: 2000 }, (_, index) =>
      store.create({ id: BigInt(index), name: 'x' }),
    )
    await store.close()
    t.equal(count(await Promise.all(results), 'created'), 2000)
  })

  t.test('what one store created another one sees at once', async (t) => {
    const open = await opener(t, engine)
    const [one, other] = [await open(), await open()]
    for (let id = 1n; id < 20n; id++) {
      t.equal(await one.create({ id, name: 'x' }), 'created')
      t.equal(await other.create({ id, name: 'x' }), 'replayed')
      t.equal(await other.create({ id, name: 'y' }), 'conflict')
    }
  })

  t.test('creates of one id by several stores at once have exactly one winner', async (t) => {
    const open = await opener(t, engine)
    const stores = [await open(), await open(), await open()]
    const ids = Array.from({ length: 300 }, (_, index) => BigInt(index))
    const results = await Promise.all(
      ids.map((id) =>
        Promise.all(stores.map((store, index) => store.create({ id, name: `by ${index}` }))),
      ),
    )
    for (const each of results) {
      t.same([...each].sort(), ['conflict', 'conflict', 'created'])
    }
  })
}

/** Whichever of the concurrent creates of a free id won, it explains the results of all others. */
function checkByModel(
  model: Map<bigint, NewPlant>,
  plants: readonly NewPlant[],
  results: readonly CreateResult[],
): void {
  for (const [index, plant] of plants.entries()) {
    if (results[index] !== 'created') continue
    if (model.has(plant.id)) throw new Error(`${plant.id} was created twice`)
    model.set(plant.id, plant)
  }
  for (const [index, plant] of plants.entries()) {
    if (results[index] === 'created') continue
    const stored = model.get(plant.id)
    const same = stored?.name === plant.name && stored.tag === plant.tag
    const expected = same ? 'replayed' : 'conflict'
    if (stored === undefined || results[index] !== expected) {
      throw new Error(`${results[index]} is wrong for ${plant.id}: ${JSON.stringify(plant.name)}`)
    }
  }
}

function count(results: readonly CreateResult[], result: CreateResult): number {
  return results.filter((each) => each === result).length
}

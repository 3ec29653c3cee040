import t, { type Test } from 'tap'
import type { NewPlant } from '../../service/plant-store.ts'
import { SqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'
import type { Content } from '../../src/transfer/entry.ts'
import { BATCH_SIZE, type StoringOptions, storePlants } from '../../src/transfer/import.ts'
import type { RecordBatch } from '../../src/transfer/record-stream.ts'

const NOTHING = { created: 0, replayed: 0, replaced: 0, kept: 0, refused: 0 }

/** Stores records, one on each line, in a store of the test's own that has the plant 1 already. */
async function storeLines(
  t: Test,
  contents: readonly Content[],
  options: Partial<StoringOptions> = {},
  bytes = 1,
) {
  const store = new SqliteStore({ file: ':memory:', lockTimeout: 0 })
  t.teardown(() => store.close())
  await store.create({ id: 1n, name: 'one' })
  const sizes: number[] = []
  const importPlants: SqliteStore['importPlants'] = (plants, onConflict) => {
    sizes.push(plants.length)
    return store.importPlants(plants, onConflict)
  }
  async function* batches(): AsyncGenerator<RecordBatch, void> {
    for (const [index, content] of contents.entries()) {
      yield { entries: [{ line: index + 1, content }], position: (index + 1) * bytes }
    }
  }
  const refused: string[] = []
  const positions: number[] = []
  const counts = { ...NOTHING }
  const complete = await storePlants(batches(), {
    store: { importPlants },
    onConflict: 'stop',
    onError: 'stop',
    counts,
    refuse: (line, reason) => refused.push(`${line}: ${reason}`),
    progress: (position) => positions.push(position),
    ...options,
  })
  const stored = (await Array.fromAsync(store.exportPlants())).flat()
  return { complete, counts, refused, positions, sizes, stored }
}

const one = { id: 1n, name: 'one' }
const other = { id: 1n, name: 'other' }
const two = { id: 2n, name: 'two', tag: '' }
const three = { id: 3n, name: 'three' }
const CONFLICT = 'plant 1 already exists with different content'

interface Case {
  readonly what: string
  readonly contents: readonly Content[]
  readonly options?: Partial<StoringOptions>
  readonly complete: boolean
  readonly counts: Partial<typeof NOTHING>
  readonly refused?: readonly string[]
  readonly stored: readonly NewPlant[]
}

const cases: Case[] = [
  { what: 'nothing', contents: [], complete: true, counts: {}, stored: [one] },
  {
    what: 'plants that are new and plants that are stored already',
    contents: [two, one, two],
    complete: true,
    counts: { created: 1, replayed: 2 },
    stored: [one, two],
  },
  {
    what: 'a bad record stops it',
    contents: [two, 'bad', three, 'worse'],
    complete: false,
    counts: { created: 1, refused: 1 },
    refused: ['2: bad'],
    stored: [one, two],
  },
  {
    what: 'bad records are left out',
    contents: ['bad', two, 'worse', three],
    options: { onError: 'skip' },
    complete: true,
    counts: { created: 2, refused: 2 },
    refused: ['1: bad', '3: worse'],
    stored: [one, two, three],
  },
  {
    what: 'a conflict stops it, also where bad records are left out',
    contents: ['bad', two, other, three, 'worse'],
    options: { onError: 'skip' },
    complete: false,
    counts: { created: 1, refused: 2 },
    refused: ['1: bad', `3: ${CONFLICT}`],
    stored: [one, two],
  },
  {
    what: 'a conflict in front of a bad record is what stops it',
    contents: [other, 'bad'],
    complete: false,
    counts: { refused: 1 },
    refused: [`1: ${CONFLICT}`],
    stored: [one],
  },
  {
    what: 'what is stored is kept',
    contents: [other, two, { ...two, tag: 'x' }],
    options: { onConflict: 'keep' },
    complete: true,
    counts: { created: 1, kept: 2 },
    stored: [one, two],
  },
  {
    what: 'what is stored is replaced',
    contents: [other, two, three, { ...two, name: '2' }],
    options: { onConflict: 'replace' },
    complete: true,
    counts: { created: 2, replaced: 2 },
    stored: [other, { ...two, name: '2' }, three],
  },
]

for (const { what, contents, options, complete, counts, refused = [], stored } of cases) {
  t.test(what, async (t) => {
    const done = await storeLines(t, contents, options)
    t.equal(done.complete, complete)
    t.strictSame(done.counts, { ...NOTHING, ...counts })
    t.strictSame(done.refused, refused)
    t.strictSame(done.stored, stored)
  })
}

t.test('many plants go together in a transaction', async (t) => {
  const plants = Array.from({ length: BATCH_SIZE + 2 }, (_, index) => ({
    id: BigInt(index),
    name: 'one',
  }))
  const { sizes, positions, counts } = await storeLines(t, plants)
  t.strictSame(sizes, [BATCH_SIZE, 2])
  t.strictSame(positions, [BATCH_SIZE])
  t.match(counts, { created: BATCH_SIZE + 1, replayed: 1 })
})

t.test('fewer of them where they are large', async (t) => {
  const { sizes, positions } = await storeLines(t, [one, two, three], {}, 2 ** 21)
  t.strictSame(sizes, [2, 1])
  t.strictSame(positions, [2 ** 22])
})

t.test('behind a record that stops it, in whatever transaction, nothing is read', async (t) => {
  const { sizes, stored } = await storeLines(t, ['bad', two, three], {}, 2 ** 22)
  t.strictSame(sizes, [])
  t.strictSame(stored, [one])
})

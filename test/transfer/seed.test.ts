import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type NewPlant, StoreUnavailable } from '../../service/plant-store.ts'
import { SqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'
import { prepareSeed } from '../../src/transfer/seed.ts'

const FIR = { id: 2n ** 53n + 1n, name: 'Abies alba Mill.', tag: 'Tree' }
const PINE = { id: 1n, name: 'Pinus mugo Turra' }

/** A store in memory, and what is in it. */
function storeOf(t: Test) {
  const store = new SqliteStore({ file: ':memory:', lockTimeout: 0 })
  t.teardown(() => store.close())
  return { store, stored: async () => (await Array.fromAsync(store.exportPlants())).flat() }
}

const CSV = `id,name,tag\n${FIR.id},${FIR.name},${FIR.tag}\n1,${PINE.name},\n`
const NDJSON = `{"id":${FIR.id},"name":"${FIR.name}","tag":"Tree"}\n\n{"id":1,"name":"${PINE.name}"}`

t.test('plants of a file or of a program are stored, and again change nothing', async (t) => {
  const folder = t.testdir({ 'plants.csv': CSV, 'plants.ndjson': NDJSON })
  const seeds = [join(folder, 'plants.csv'), join(folder, 'plants.ndjson'), [FIR, PINE]]
  for (const seed of seeds) {
    const { store, stored } = storeOf(t)
    for (let times = 0; times < 2; times++) {
      const seedStore = await prepareSeed(seed)
      await seedStore(store)
    }
    t.strictSame(await stored(), [PINE, FIR])
  }
})

t.test('a large file is stored a part at a time', async (t) => {
  const { store, stored } = storeOf(t)
  const lines = [1, 2, 3].map((id) => `{"id":${id},"name":"${'a'.repeat(2 ** 21)}"}\n`)
  const file = join(t.testdir({ 'plants.ndjson': lines.join('') }), 'plants.ndjson')
  const seedStore = await prepareSeed(file)
  const parts: number[] = []
  await seedStore({
    importPlants(plants, onConflict) {
      parts.push(plants.length)
      return store.importPlants(plants, onConflict)
    },
  })
  t.strictSame(parts, [2, 1])
  t.equal((await stored()).length, 3)
})

t.test('a seed that is left out, or empty, stores nothing', async (t) => {
  const { store, stored } = storeOf(t)
  for (const seed of [undefined, []]) {
    const seedStore = await prepareSeed(seed)
    await seedStore(store)
  }
  t.strictSame(await stored(), [])
})

t.test('the plants of a program are left as they are, also where they are frozen', async (t) => {
  const { store, stored } = storeOf(t)
  const plant = Object.freeze({ id: 7, name: 'a', colour: 'green' })
  const seedStore = await prepareSeed([plant as unknown as NewPlant])
  await seedStore(store)
  t.strictSame(plant, { id: 7, name: 'a', colour: 'green' })
  t.strictSame(await stored(), [{ id: 7n, name: 'a' }])
})

const files = [
  { what: 'a bad record', text: '{"id":1,"name":"a"}\n{"id":2}\n', line: 2, says: /'name'$/ },
  { what: 'a bad header', name: 'a.csv', text: 'id,title\n1,a\n', line: 1, says: /columns/ },
  {
    what: 'an id that is taken',
    text: '{"id":1,"name":"a"}\n\n{"id":1,"name":"b"}\n',
    line: 3,
    says: /plant 1 already exists with different content$/,
  },
  { what: 'an order to the terminal', text: '\x1b[2J', line: 1, says: /^\P{Cc}*$/u },
]

for (const { what, name = 'plants.jsonl', text, line, says } of files) {
  t.test(`${what} is named with its file and line`, async (t) => {
    const file = join(t.testdir({ [name]: text }), name)
    const seedStore = await prepareSeed(file)
    const { message } = (await t.rejects(seedStore(storeOf(t).store))) as Error
    t.ok(message.startsWith(`cannot seed from ${file}: line ${line}: `), message)
    t.match(message, says)
  })
}

const programs = [
  { what: 'a plant without a name', plants: [PINE, { id: 2n }], says: 'seed[1]: must have requ' },
  { what: 'an id beyond int64', plants: [{ ...FIR, id: 2n ** 63n }], says: 'seed[0]: id must be' },
  { what: 'what is no plant', plants: [null], says: 'seed[0]: must have required property' },
  { what: 'an id twice', plants: [PINE, { ...FIR, id: 1n }], says: 'seed[1]: plant 1 already' },
]

for (const { what, plants, says } of programs) {
  t.test(`${what} is named with its place`, async (t) => {
    const seedStore = await prepareSeed(plants as NewPlant[])
    const { message } = (await t.rejects(seedStore(storeOf(t).store))) as Error
    t.ok(message.startsWith(says), message)
  })
}

t.test(
  'a file that is missing, or says no format, is refused before there is a store',
  async (t) => {
    const folder = t.testdir({ 'plants.txt': CSV })
    const missing = join(folder, 'plants.csv')
    const text = join(folder, 'plants.txt')
    await t.rejects(prepareSeed(missing), {
      message: `cannot read ${missing}: no such file or directory`,
    })
    await t.rejects(prepareSeed(text), { message: /does not end with one of .*\.csv$/ })
  },
)

t.test('a file that cannot be read after all is named', async (t) => {
  const folder = join(t.testdir({ 'plants.csv': {} }), 'plants.csv')
  const seedStore = await prepareSeed(folder)
  const message = `cannot seed from ${folder}: cannot read ${folder}: illegal operation on a directory`
  await t.rejects(seedStore(storeOf(t).store), { message })
})

t.test('what the store says of itself is handed on', async (t) => {
  const unavailable = new StoreUnavailable('busy', 'as it is')
  const file = join(t.testdir({ 'plants.csv': CSV }), 'plants.csv')
  const seedStore = await prepareSeed(file)
  const importPlants = () => Promise.reject(unavailable)
  t.equal(await t.rejects(seedStore({ importPlants })), unavailable)
})

import { join } from 'node:path'
import t, { type Test } from 'tap'
import { loadContract } from '../../core/contract/contract.ts'
import { StoreUnavailable } from '../../service/store/plant-store.ts'
import { SqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'
import { FileError } from '../../src/system/user-errors.ts'
import { prepareSeed as prepareSeedFor } from '../../src/transfer/seed.ts'

const FIR = { id: 2n ** 53n + 1n, name: 'Abies alba Mill.', tag: 'Tree' }
const PINE = { id: 1n, name: 'Pinus mugo Turra' }

const prepareSeed = (seed?: Parameters<typeof prepareSeedFor>[1]) =>
  prepareSeedFor(loadContract(), seed)

/** A new store and a function that returns its plants. */
function openStore(t: Test) {
  const store = new SqliteStore({ file: ':memory:', lockTimeout: 0 })
  t.teardown(() => store.close())
  return { store, stored: async () => (await Array.fromAsync(store.exportPlants())).flat() }
}

const CSV = `id,name,tag\n${FIR.id},${FIR.name},${FIR.tag}\n1,${PINE.name},\n`
const NDJSON = `{"id":${FIR.id},"name":"${FIR.name}","tag":"Tree"}\n\n{"id":1,"name":"${PINE.name}"}`

t.test('a seed from a file or a program is stored; storing it again changes nothing', async (t) => {
  const folder = t.testdir({ 'plants.csv': CSV, 'plants.ndjson': NDJSON })
  const seeds = [join(folder, 'plants.csv'), join(folder, 'plants.ndjson'), [FIR, PINE]]
  for (const seed of seeds) {
    const { store, stored } = openStore(t)
    for (let times = 0; times < 2; times++) {
      const seedStore = await prepareSeed(seed)
      await seedStore(store)
    }
    t.strictSame(await stored(), [PINE, FIR])
  }
})

t.test('a missing or empty seed stores nothing', async (t) => {
  const { store, stored } = openStore(t)
  for (const seed of [undefined, []]) {
    const seedStore = await prepareSeed(seed)
    await seedStore(store)
  }
  t.strictSame(await stored(), [])
})

t.test('plants passed by a program are not modified, and can be frozen', async (t) => {
  const { store, stored } = openStore(t)
  const plant = Object.freeze({ id: 7, name: 'a', colour: 'green' })
  const seedStore = await prepareSeed([plant])
  await seedStore(store)
  t.strictSame(plant, { id: 7, name: 'a', colour: 'green' })
  t.strictSame(await stored(), [{ id: 7n, name: 'a' }])
})

const invalidFiles = [
  {
    what: 'an invalid record',
    text: '{"id":1,"name":"a"}\n{"id":2}\n',
    line: 2,
    says: /name is missing$/,
  },
  {
    what: 'data that would not be stored',
    text: '{"id":1,"name":"a"}\n{"id":2,"name":"b","tagg":"Tree","x":1}\n',
    line: 2,
    says: /unknown properties "tagg" \(did you mean "tag"\?\), "x"$/,
  },
]

for (const { what, text, line, says } of invalidFiles) {
  t.test(`${what} is reported with its file and line`, async (t) => {
    const file = join(t.testdir({ 'plants.jsonl': text }), 'plants.jsonl')
    const seedStore = await prepareSeed(file)
    const { message, cause } = (await t.rejects(seedStore(openStore(t).store))) as Error
    t.ok(message.startsWith(`cannot seed from ${file}: line ${line}: `), message)
    t.match(message, says)
    t.ok(cause instanceof FileError, 'the cause has the original stack')
    t.match((cause as Error).message, says)
  })
}

const invalidPlants = [
  { what: 'a plant without a name', plants: [PINE, { id: 2n }], says: 'seed[1]: must have requ' },
  {
    what: 'an id that occurs twice',
    plants: [PINE, { ...FIR, id: 1n }],
    says: 'seed[1]: repeats id 1 of seed[0] with different content',
  },
]

for (const { what, plants, says } of invalidPlants) {
  t.test(`${what} is reported with its index`, async (t) => {
    const seedStore = await prepareSeed(plants as object[])
    const { message } = (await t.rejects(seedStore(openStore(t).store))) as Error
    t.ok(message.startsWith(says), message)
  })
}

t.test('a missing file is rejected before a store is opened', async (t) => {
  const folder = t.testdir()
  const missing = join(folder, 'plants.csv')
  await t.rejects(prepareSeed(missing), {
    message: `cannot read ${missing}: no such file or directory`,
  })
})

t.test('a file that turns out to be unreadable is reported with its name', async (t) => {
  const folder = join(t.testdir({ 'plants.csv': {} }), 'plants.csv')
  const seedStore = await prepareSeed(folder)
  const message = `cannot seed from ${folder}: cannot read ${folder}: illegal operation on a directory`
  await t.rejects(seedStore(openStore(t).store), { message })
})

t.test('errors of the store are passed on', async (t) => {
  const unavailable = new StoreUnavailable('busy', 'the store is busy')
  const file = join(t.testdir({ 'plants.csv': CSV }), 'plants.csv')
  const seedStore = await prepareSeed(file)
  const getAll = () => Promise.reject(unavailable)
  const { apply } = openStore(t).store
  t.equal(await t.rejects(seedStore({ apply, getAll })), unavailable)
})

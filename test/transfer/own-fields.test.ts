/** Imports and exports of plants with own fields. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { extendContract, loadContract } from '../../core/contract/contract.ts'
import { INT64_MAX } from '../../core/json/int64.ts'
import type { OwnField } from '../../core/members/own-fields.ts'
import type { StoredPlant } from '../../service/store/plant-store.ts'
import { adoptFields } from '../../src/start/field-adoption.ts'
import { openStore } from '../../src/stores/engines.ts'
import type { Store } from '../../src/stores/shared/store.ts'
import { SqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'
import { prepareSeed } from '../../src/transfer/seed.ts'
import { runHere } from '../helpers/processes/command-here.ts'
import { sqlite } from '../helpers/service/engine.ts'

const FIELDS: readonly OwnField[] = [
  { name: 'height', schema: { type: 'integer', format: 'int32', minimum: 0, maximum: 10_000 } },
  { name: 'planted', schema: { type: 'string', format: 'date' } },
  { name: 'light', schema: { type: 'string', enum: ['sun', 'half shade', 'shade'] } },
  { name: 'serial', schema: { type: 'integer', format: 'int64' } },
  { name: 'price', schema: { type: 'number', minimum: 0 } },
  { name: 'inStock', schema: { type: 'boolean' } },
]

/** A database with own fields, and commands on it. */
async function databaseOf(t: Test, fields = FIELDS) {
  const { database } = await sqlite(t)
  const use = async <Result>(action: (store: Store) => Promise<Result>): Promise<Result> => {
    const store = await openStore({ database, lockTimeout: 30_000, sameThread: true })
    try {
      return await action(store)
    } finally {
      await store.close()
    }
  }
  const declare = (declared: readonly OwnField[]) =>
    use((store) => adoptFields(store, declared, { hide: false }))
  await declare(fields)
  return {
    database,
    declare,
    stored: () => use(plantsOf),
    run: (...args: string[]) => runHere([...args, '--database', database]),
    /** Imports a file with some lines. */
    load: (name: string, lines: readonly string[], ...options: string[]) => {
      const file = join(t.testdir(), name)
      writeFileSync(file, `${lines.join('\n')}\n`)
      return runHere(['import', file, ...options, '--database', database])
    },
  }
}

async function plantsOf(store: Pick<Store, 'exportPlants'>): Promise<StoredPlant[]> {
  return (await Array.fromAsync(store.exportPlants())).flat()
}

const HEADER = 'id,name,tag,height,planted,light,serial,price,inStock'
const FIR = `1,Abies,Tree,120,2026-11-25,half shade,${INT64_MAX},24.5,true`
const PINE = '2,Pinus,,,,,,,'
const ELM = '3,Ulmus,,0,,"shade",-1,1e+21,false'

const NDJSON = [
  `{"id":1,"name":"Abies","tag":"Tree","height":120,"planted":"2026-11-25","light":"half shade","serial":${INT64_MAX},"price":24.5,"inStock":true}`,
  '{"id":2,"name":"Pinus"}',
  '{"id":3,"name":"Ulmus","height":0,"light":"shade","serial":-1,"price":1e+21,"inStock":false}',
]

const STORED = [
  {
    id: 1n,
    name: 'Abies',
    tag: 'Tree',
    fields: `"height":120,"inStock":true,"light":"half shade","planted":"2026-11-25","price":24.5,"serial":${INT64_MAX}`,
  },
  { id: 2n, name: 'Pinus' },
  {
    id: 3n,
    name: 'Ulmus',
    fields: '"height":0,"inStock":false,"light":"shade","price":1e+21,"serial":-1',
  },
]

t.test('each format has the fields', async (t) => {
  const { load, run, stored } = await databaseOf(t)
  for (const [file, lines, summary] of [
    ['plants.csv', [HEADER, FIR, PINE, ELM], /^created 3\n/],
    ['plants.ndjson', NDJSON, /replayed 3/],
    ['plants.json', [`[${NDJSON}]`], /replayed 3/],
  ] as const) {
    t.match(await load(file, lines), { code: 0, stdout: summary })
    t.strictSame(await stored(), STORED)
  }
  const csv = await run('export', '--format', 'csv')
  t.equal(csv.stdout, `${[HEADER, FIR, PINE, ELM.replaceAll('"', '')].join('\n')}\n`)
  t.match(csv.stderr, /^exported 3 plants from .+ to standard output\n$/)
  t.equal((await run('export')).stdout, `${NDJSON.join('\n')}\n`)
})

t.test('a cell that is not a value of its field is refused', async (t) => {
  const { load } = await databaseOf(t)
  const lines = ['id,name,height,light,serial,price,inStock']
  const cells = [
    'x,,,,',
    '10001,,,,',
    ',moon,,,',
    ',,9223372036854775808,,',
    ',,,"24,5",',
    ',,,,maybe',
  ]
  for (const cell of cells) lines.push(`1,a,${cell}`)
  const { code, stderr } = await load('plants.csv', lines, '--on-error', 'skip')
  t.equal(code, 2)
  t.same(stderr.trimEnd().split('\n'), [
    'line 2: height must be a whole number, written like 4 or -12, not "x"',
    'line 3: height must be a whole number from 0 to 10000, not "10001"',
    'line 4: light must be sun, half shade or shade, not "moon"',
    'line 5: serial must be between -9223372036854775808 and 9223372036854775807, not "9223372036854775808"',
    'line 6: price must have a decimal point, not a comma, not "24,5"',
    'line 7: inStock must be true or false, yes or no, 1 or 0, or x, not "maybe"',
  ])
})

t.test('names that are not those of fields are unknown', async (t) => {
  const { load, declare } = await databaseOf(t)
  t.match(await load('plants.csv', ['id,name,Heigt,instok,x', '1,a,1,true,']), {
    code: 1,
    stderr:
      /the file has 3 unknown columns, "Heigt" \(did you mean "height"\?\), "instok" \(did you mean "inStock"\?\), "x": expected only id, name, tag, height, planted, light, serial, price and inStock; use --ignore-unknown/,
  })
  const json = ['{"id":1,"name":"a","height":1,"heigth":2,"constructor":3}']
  t.match(await load('plants.ndjson', json, '--strict'), {
    stderr: /unknown properties "heigth" \(did you mean "height"\?\), "constructor"/,
  })
  await declare([])
  t.match(await load('plants.csv', ['id,name,height', '1,a,1']), {
    code: 1,
    stderr: /an unknown column, "height": expected only id, name and tag;/,
  })
})

t.test('a replacement clears the fields that it lacks, and keeps hidden ones', async (t) => {
  const { load, run, stored, declare } = await databaseOf(t)
  await load('plants.csv', [HEADER, FIR])
  const [height, planted, light] = FIELDS as [OwnField, OwnField, OwnField]
  await declare([height, light])
  const lines = ['id,name,height', '1,Abies,121']
  t.match(await load('plants.csv', lines), { code: 1, stderr: /already exists with different/ })
  t.match(await load('plants.csv', lines, '--on-conflict', 'replace'), { stdout: /replaced 1/ })
  const hidden = `"inStock":true,"planted":"2026-11-25","price":24.5,"serial":${INT64_MAX}`
  t.strictSame(await stored(), [{ id: 1n, name: 'Abies', fields: `"height":121,${hidden}` }])
  t.match(await load('plants.csv', lines), { code: 0, stdout: /replayed 1/ })
  const { stdout, stderr } = await run('export', '--format', 'csv')
  t.equal(stdout, 'id,name,tag,height,light\n1,Abies,,121,\n')
  t.match(
    stderr,
    /\nplant-store: these fields are hidden, so they are not exported, and their values stay in the database: planted, serial, price, inStock\n$/,
  )
  await declare([height, light, planted])
  t.match((await run('export')).stdout, '"planted":"2026-11-25"')
})

t.test('only text is escaped for spreadsheets', async (t) => {
  const fields: readonly OwnField[] = [...FIELDS, { name: 'note', schema: { type: 'string' } }]
  const { load, run } = await databaseOf(t, fields)
  await load('plants.csv', ['id,name,serial,price,inStock,note', '-1,=a,-5,0.5,true,=1+2'])
  const { stdout } = await run('export', '--format', 'csv', '--escape-formulas')
  t.equal(stdout, `${HEADER},note\n-1,"'=a",,,,,-5,0.5,true,"'=1+2"\n`)
})

t.test('a dry run counts what the import then does', async (t) => {
  const { load, stored, declare } = await databaseOf(t)
  await load('stored.csv', [HEADER, FIR, PINE, ELM])
  await declare(FIELDS.filter(({ name }) => name !== 'serial'))
  const lines = [
    'id,name,tag,height,planted,light,price,inStock',
    '1,Abies,Tree,120,2026-11-25,half shade,24.50,true',
    '1,Abies,Tree,121,2026-11-25,half shade,24.5,true',
    '2,Pinus,,7,,,,',
    '2,Pinus,,7,,,,',
    '3,Ulmus,,0,,shade,1e21,false',
    '3,Ulmus,,,,shade,1e21,false',
    '4,Acer,,,,shade,,',
    '4,Acer,,,,,,',
  ]
  for (const [action, counts] of [
    ['keep', /^created 1\n.*replayed 2 .*kept 5\n/s],
    ['replace', /^created 0\n.*replayed 4 .*replaced 4\n/s],
  ] as const) {
    const before = await stored()
    const planned = await load('plants.csv', lines, '--on-conflict', action, '--dry-run')
    t.match(planned.stdout, counts)
    t.strictSame(await stored(), before)
    const done = await load('plants.csv', lines, '--on-conflict', action)
    t.match(done.stdout, counts)
    t.equal(planned.stderr, done.stderr)
  }
})

t.test('a dry run shows the fields', async (t) => {
  const { load } = await databaseOf(t)
  await load('stored.csv', [HEADER, FIR])
  const { stdout } = await load('plants.csv', ['id,name,light,price', '1,A,sun,1.50'], '--dry-run')
  t.match(
    stdout,
    `{"id":1,"name":"A","light":"sun","price":1.5}; stored: {"id":1,"name":"Abies","tag":"Tree","height":120,"inStock":true,"light":"half shade","planted":"2026-11-25","price":24.5,"serial":${INT64_MAX}}`,
  )
  const long: OwnField = { name: 'no "te"', schema: { type: 'string' } }
  const { load: loadLong } = await databaseOf(t, [long])
  const record = `{"id":1,"name":"a","no \\"te\\"":"${'x'.repeat(101)}"}`
  t.match(
    (await loadLong('plants.ndjson', [record], '--dry-run')).stdout,
    `{"id":1,"name":"a","no \\"te\\"":"${'x'.repeat(100)}…"}`,
  )
})

t.test('a seed has the fields', async (t) => {
  const contract = extendContract(loadContract(), FIELDS)
  const file = join(t.testdir(), 'seed.csv')
  writeFileSync(file, `${[HEADER, FIR, PINE, ELM].join('\n')}\n`)
  const plants = [
    {
      id: 1,
      name: 'Abies',
      tag: 'Tree',
      height: 120,
      planted: '2026-11-25',
      light: 'half shade',
      serial: INT64_MAX,
      price: 24.5,
      inStock: true,
    },
    { id: 2, name: 'Pinus' },
    { id: 3, name: 'Ulmus', height: 0n, light: 'shade', serial: -1, price: 1e21, inStock: false },
  ]
  for (const seed of [file, plants]) {
    const store = new SqliteStore({ file: ':memory:', lockTimeout: 0 })
    t.teardown(() => store.close())
    await (await prepareSeed(contract, seed))(store)
    t.strictSame(await plantsOf(store), STORED)
  }
  const seedStore = await prepareSeed(contract, [{ id: 1, name: 'a', price: Number.NaN }])
  const store = new SqliteStore({ file: ':memory:', lockTimeout: 0 })
  t.teardown(() => store.close())
  await t.rejects(seedStore(store), { message: 'seed[0]: price must be a number of at least 0' })
})

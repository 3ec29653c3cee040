/** Mirrors of services whose plants have own fields. */

import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createClient } from '../../client/client.ts'
import { INT64_MAX, INT64_MIN } from '../../core/json/int64.ts'
import type { OwnField } from '../../core/members/own-fields.ts'
import { restrict } from '../../service/restriction.ts'
import type { StoredPlant } from '../../service/store/plant-store.ts'
import { startPlantStore } from '../../src/index.ts'
import { SourcePlants } from '../../src/mirror/source-plants.ts'
import { openStore } from '../../src/stores/engines.ts'
import type { Store } from '../../src/stores/shared/store.ts'
import { inMemory, makeFolder } from '../../tools/tap/temporary-folders.ts'
import { createIn } from '../helpers/plants/single-changes.ts'
import { runHere } from '../helpers/processes/command-here.ts'
import { writeOverlay } from '../helpers/service/overlay.ts'
import { readSetting } from '../helpers/service/settings.ts'
import { plantsOf } from './mirrored.ts'

const height: OwnField = {
  name: 'height',
  schema: { type: 'integer', format: 'int32', maximum: 500 },
}
const serial: OwnField = { name: 'serial', schema: { type: 'integer', format: 'int64' } }
const price: OwnField = { name: 'price', schema: { type: 'number' } }
const note: OwnField = { name: 'constructor', schema: { type: 'string' } }
const inStock: OwnField = { name: 'inStock', schema: { type: 'boolean' } }
const ALL = [height, serial, price, note, inStock]

const FIR = { id: 1n, name: 'Abies' }
const PINE = {
  id: 2n,
  name: 'Pinus',
  tag: '',
  height: 500,
  serial: INT64_MAX,
  price: 1e21,
  constructor: '',
  inStock: false,
}
const ELM = { id: 3n, name: 'Ulmus', serial: INT64_MIN, price: 0.1 }

const STORED: readonly StoredPlant[] = [
  FIR,
  {
    id: 2n,
    name: 'Pinus',
    tag: '',
    fields: `"constructor":"","height":500,"inStock":false,"price":1e+21,"serial":${INT64_MAX}`,
  },
  { id: 3n, name: 'Ulmus', fields: `"price":0.1,"serial":${INT64_MIN}` },
]

/** A service with own fields, and a database to mirror it. */
async function setUp(t: Test, fields: readonly OwnField[]) {
  const token = 'a-token-of-the-source'
  const { url, close } = await startPlantStore({ token, contract: writeOverlay(t, fields) })
  t.teardown(close)
  const int64Fields = fields.filter(({ schema }) => schema.format === 'int64')
  const client = createClient({ url, token, int64Fields: int64Fields.map(({ name }) => name) })
  const copy = join(makeFolder(t, inMemory()), 'mirror.db')
  const run = (command: string, ...args: string[]) =>
    runHere([command, url, '--database', copy, ...args], { PLANT_STORE_MIRROR_TOKEN: token })
  const contractOf = (declared: readonly OwnField[]) => ['--contract', writeOverlay(t, declared)]
  return {
    client,
    mirror: (declared?: readonly OwnField[]) =>
      run('mirror', '--once', ...(declared ? contractOf(declared) : [])),
    compare: () => run('compare'),
    use: async <Result>(action: (store: Store) => Promise<Result>): Promise<Result> => {
      const options = { lockTimeout: 60_000, sameThread: true, readsIncomplete: true }
      const store = await openStore({ database: copy, ...options })
      return action(store).finally(() => store.close())
    },
  }
}

t.test('a mirror copies and follows the fields, which its database remembers', async (t) => {
  const { client, mirror, compare, use } = await setUp(t, ALL)
  await client.createPlants([FIR, PINE, ELM])
  t.match(await mirror(ALL), { code: 0, stderr: '', stdout: /^caught up/ })
  t.strictSame(await use(plantsOf), STORED)
  t.match(await compare(), { code: 0, stdout: /^equal: 3 plants/ })
  await client.replacePlant(2n, { name: 'Pinus', price: 2.5 } as { name: string })
  await client.createPlant({ id: 4n, name: 'Acer', inStock: true } as typeof FIR)
  t.match(await mirror(), { code: 0, stderr: '' })
  const changed = { id: 2n, name: 'Pinus', fields: '"price":2.5' }
  const created = { id: 4n, name: 'Acer', fields: '"inStock":true' }
  t.strictSame(await use(plantsOf), [FIR, changed, STORED[2], created])
  t.match(await compare(), { code: 0, stdout: /^equal: 4 plants/ })
  await client.updatePlant(4n, { inStock: null } as object)
  t.match(await compare(), { code: 0, stdout: /^equal: 3 plants.+; 1 others have changed since/ })
})

t.test('a mirror stops at the first plant with a property that it does not know', async (t) => {
  const { client, mirror, compare, use } = await setUp(t, ALL)
  await client.createPlants([FIR, PINE, { ...ELM, id: 1001n }])
  const stderr =
    'plant-store: plant 2 of the source has the property "inStock", which the mirror does not know; start the mirror with --contract and an overlay that has the fields of the source\n'
  t.match(await mirror([height, serial, price, note]), { code: 1, stdout: '', stderr })
  t.strictSame(await use(plantsOf), [])
  t.match(await mirror([...ALL]), { code: 0 })
  t.equal((await use(plantsOf)).length, 3)
  t.match(await mirror([height, serial, price, note]), {
    code: 0,
    stderr:
      'plant-store: these fields are not in --contract, so their values are kept and hidden: inStock\n',
  })
  await client.updatePlant(2n, { name: 'changed' })
  t.match(await mirror(), { code: 1, stderr })
  t.match(await compare(), { code: 1, stderr })
  t.match(await mirror(ALL), { code: 0, stderr: '' })
  t.match(await compare(), { code: 0, stdout: /^equal: 3 plants/ })
})

t.test('a database that cannot become a mirror keeps its fields', async (t) => {
  const { mirror, use } = await setUp(t, [])
  await use((store) => createIn(store, { ...FIR, fields: '"height":5' }))
  t.match(await mirror([price]), { code: 1, stderr: /the database contains plants/ })
  t.equal(await use((store) => readSetting(store, 'fields')), undefined)
  await use((store) => restrict(store, { expected: undefined, next: 'frozen' }))
  t.match(await mirror([price]), { code: 1, stderr: /the database is frozen/ })
  t.equal(await use((store) => readSetting(store, 'fields')), undefined)
})

t.test('pages of a thousand plants with a hundred fields are read', async (t) => {
  const fields = Array.from({ length: 100 }, (_, index): OwnField => {
    return { name: `f${index}`, schema: { type: 'boolean' } }
  })
  const { client, mirror, compare } = await setUp(t, fields)
  const values = Object.fromEntries(fields.map(({ name }) => [name, true]))
  const plants = Array.from({ length: 1000 }, (_, id) => ({ id: BigInt(id), name: '', ...values }))
  await client.createPlants(plants)
  t.match(await mirror(fields), { code: 0, stderr: '' })
  t.match(await compare(), { code: 0, stdout: /^equal: 1,000 plants/ })
})

t.test('messages name properties as the source does', async (t) => {
  const odd: OwnField = { name: 'a/b~c', schema: { type: 'boolean' } }
  const plants = new SourcePlants([odd, serial])
  t.same(plants.int64Fields, ['serial'])
  const read = (members: object) => () => plants.read({ ...FIR, ...members })
  t.throws(read({ 'a/b~c': 1 }), { message: /plant 1, whose a\/b~c must be boolean; start the/ })
  t.throws(read({ name: 1 }), { message: /has sent plant 1, whose name must be string; check the/ })
  t.throws(read({ [`\n${'x'.repeat(100)}`]: 1 }), {
    message: `plant 1 of the source has the property "\\n${'x'.repeat(99)}", which`,
  })
})

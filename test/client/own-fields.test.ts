/** Plants with own fields: with their types, and without knowing them. Their numbers are exact. */
import t, { type Test } from 'tap'
import {
  type ClientOptions,
  createClient,
  type Plant,
  parseJson,
  toJson,
} from '../../client/client.ts'
import { propertiesOf } from '../../core/known.ts'
import { nursery } from '../helpers/plants/nursery.ts'
import { type Service, startService } from '../helpers/service/service.ts'
import { answered, connectThrough, thrownBy } from './faulty-proxy.ts'

interface NurseryPlant extends Plant {
  height?: number
  light?: 'sun' | 'half shade' | 'shade'
  planted?: string
  price?: number
  inStock?: boolean
  serial?: bigint
}

const OWN = {
  height: 120,
  inStock: false,
  light: 'half shade',
  planted: '2026-11-25',
  price: 24.1,
  serial: -9007199254740993n,
} as const

let service: Service
t.before(async () => {
  service = await startService(t, { fields: nursery })
})

const connect = () => createClient<NurseryPlant>({ ...endpoint(), int64Fields: ['serial'] })
const endpoint = () => ({ url: service.url, token: service.token })

t.test('own fields are stored, changed and removed', async (t) => {
  const client = connect()
  const content = { name: 'Abies', ...OWN }
  t.strictSame(await client.createPlant({ id: 1n, ...content }), { plant: content })
  const { plant, etag } = await client.getPlant(1n)
  t.strictSame(plant, { id: 1n, ...content })
  t.strictSame((await client.listPlants({ id: [1n] })).plants, [plant])

  const patch = { height: 121, light: null, serial: 2n ** 63n - 1n }
  const { light, ...kept } = plant
  const updated = await client.updatePlant(1n, patch, { ifMatch: etag })
  t.strictSame(updated.plant, { ...kept, height: 121, serial: 2n ** 63n - 1n })
  const replaced = await client.replacePlant(1n, { name: 'Abies', height: 0 })
  t.strictSame(replaced.plant, { id: 1n, name: 'Abies', height: 0 })
})

t.test('lists and batches have own fields, and changes return them', async (t) => {
  const client = connect()
  const { cursor } = await client.listChanges({ after: 'latest' })
  const plant = { id: 10n, name: 'Acer', ...OWN }
  t.match(await client.createPlants([plant]), { created: 1 })
  t.match(await client.createPlants([plant]), { unchanged: 1 })
  await client.changePlants([
    { op: 'update', id: 10n, inStock: null, serial: 5n },
    { op: 'create', id: 11n, name: 'Pinus', price: 0.1 },
  ])
  const { changes } = await client.listChanges({ after: cursor })
  const { inStock, ...kept } = OWN
  t.strictSame(
    changes.map(({ plant }) => plant),
    [
      { name: 'Acer', ...OWN },
      { name: 'Acer', ...kept, serial: 5n },
      { name: 'Pinus', price: 0.1 },
    ],
  )
})

t.test('a client without the types keeps the fields of a plant that it writes back', async (t) => {
  const [client, plain] = [connect(), createClient(endpoint())]
  await client.createPlant({ id: 20n, name: 'Abies', ...OWN })
  const { plant } = await plain.getPlant(20n)
  t.strictSame(plant, { id: 20n, name: 'Abies', ...OWN })
  await plain.replacePlant(20n, { ...plant, name: 'Acer' })
  await plain.updatePlant(20n, { tag: 'Tree' })
  t.strictSame((await client.getPlant(20n)).plant, {
    id: 20n,
    name: 'Acer',
    tag: 'Tree',
    ...OWN,
  })
  t.match(await thrownBy(plain.createPlant({ id: 20n, name: 'Acer', tag: 'Tree' })), {
    condition: 'plant-exists',
  })
  t.strictSame(await plain.createPlant({ id: 21n, name: 'Acer' }), { plant: { name: 'Acer' } })
})

t.test('lists, iterations and counts select plants by own fields', async (t) => {
  const client = connect()
  const tag = 'filter'
  await client.createPlants([
    { id: 30n, name: 'Abies', tag, ...OWN },
    { id: 31n, name: 'Acer', tag, height: 90, light: 'sun', price: 1e21, inStock: true },
    { id: 32n, name: 'Pinus', tag },
  ])
  for (const [filter, ...ids] of [
    [{}, 30n, 31n, 32n],
    [{ height: undefined, light: {} }, 30n, 31n, 32n],
    [{ height: { min: 100, max: 120 } }, 30n],
    [{ light: { is: ['sun', 'half shade'] }, inStock: { is: [false] } }, 30n],
    [{ price: { min: 1e21 } }, 31n],
    [{ serial: { max: -9007199254740993n }, planted: { is: ['2026-11-25'] } }, 30n],
    [{ height: 'absent', price: 'absent' }, 32n],
    [{ light: { is: [] } }],
  ] as const) {
    const query = { tag, filter }
    const { plants, count } = await client.listPlants({ ...query, count: true })
    const found = plants.map(({ id }) => id)
    t.strictSame([found, count], [ids, { plants: ids.length, isExact: true }])
    t.strictSame(await client.countPlants(query), count)
    const iterated = await Array.fromAsync(client.plants({ ...query, pageSize: 1 }))
    t.strictSame(iterated, plants)
  }
  t.match(await thrownBy(client.listPlants({ filter: { height: { min: 2, max: 1 } } })), {
    condition: 'invalid-parameter',
    message: /min\.height must not exceed max\.height/,
  })
})

t.test('a filter encodes the names and values of fields', async (t) => {
  const names = ['a b&c', 'is.x', 'Höhe', '__proto__x']
  const named = await startService(t, {
    fields: names.map((name) => ({ name, schema: { type: 'string' } })),
  })
  const client = createClient({ url: named.url, token: named.token })
  for (const [index, name] of names.entries()) {
    const id = BigInt(index)
    await client.createPlant({ id, name: 'x', [name]: 'a&b=+ c' })
    const { plants } = await client.listPlants({ filter: { [name]: { is: ['a&b=+ c'] } } })
    t.strictSame(
      plants.map((plant) => plant.id),
      [id],
    )
  }
})

/** A client that receives these bodies, in order. */
const receive = async (
  t: Test,
  bodies: readonly string[],
  options: Partial<ClientOptions> = {},
) => {
  const faults = bodies.map((body) => answered(200, { etag: '"x"' }, body))
  return (await connectThrough(t, service, faults, options)).client
}

t.test('the counts of a batch or list are numbers, even if fields have their names', async (t) => {
  const int64Fields = ['created', 'replayed', 'changed', 'removed', 'unchanged']
  const batch = { created: 1, replayed: 2 }
  const counts = { created: 1, changed: 2, removed: 3, unchanged: 4 }
  const client = await receive(t, [JSON.stringify(batch), JSON.stringify(counts)], { int64Fields })
  t.strictSame(await client.createPlants([{ id: 4n, name: 'Abies' }]), {
    created: 1,
    unchanged: 2,
  })
  t.strictSame(await client.changePlants([{ op: 'remove', id: 4n }]), counts)
})

t.test('a field can have any name', async (t) => {
  const names = ['constructor', 'toString', 'id2', 'Höhe', '0', 'toJSON', 'plant', 'cursor']
  const members = names.map((name) => `"${name}":9007199254740993`).join()
  const client = await receive(t, [`{"id":4,"name":"Abies",${members}}`], { int64Fields: names })
  const { plant } = await client.getPlant(4n)
  for (const name of names) t.equal(propertiesOf(plant)[name], 9007199254740993n, name)

  const unlisted = await receive(t, ['{"id":4,"name":"Abies","constructor":1,"id2":2}'])
  t.strictSame((await unlisted.getPlant(4n)).plant, {
    id: 4n,
    name: 'Abies',
    constructor: 1,
    id2: 2,
  })
})

t.test('an integer is exact, whether its field is in int64Fields or not', async (t) => {
  for (const [source, unlisted, listed] of [
    ['0', 0, 0n],
    ['-0', -0, 0n],
    ['9007199254740992', 9007199254740992, 9007199254740992n],
    ['9007199254740993', 9007199254740993n, 9007199254740993n],
    ['-9223372036854775808', -(2n ** 63n), -(2n ** 63n)],
    ['9223372036854775808', 2 ** 63, 2 ** 63],
    ['9223372036854775800', 9223372036854775800n, 9223372036854775800n],
    ['1e+21', 1e21, 1e21],
    ['1.50000000000000000', 1.5, 1.5],
    ['0.1000000000000000055', 0.1, 0.1],
    ['null', null, null],
  ] as const) {
    t.strictSame(parseJson(`{"serial":${source}}`), { serial: unlisted }, source)
    t.strictSame(parseJson(`{"serial":${source}}`, ['serial']), { serial: listed }, source)
  }
})

t.test('a number that JSON cannot represent is refused, instead of removing a field', async (t) => {
  for (const height of [Number.NaN, Number.POSITIVE_INFINITY]) {
    t.throws(() => toJson({ height }), {
      name: 'RangeError',
      message: `height is ${height}, which JSON cannot represent`,
    })
  }
  t.equal(
    toJson({ height: 1.5, serial: 2n ** 63n - 1n }),
    '{"height":1.5,"serial":9223372036854775807}',
  )
})

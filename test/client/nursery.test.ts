/** The client against a real service with own fields: with their types, and without knowing them. */
import t from 'tap'
import { createClient, type Plant } from '../../client/client.ts'
import { nursery } from '../helpers/nursery.ts'
import { type Service, startService } from '../helpers/service.ts'
import { thrownBy } from './faulty-proxy.ts'

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
  t.match(await client.createPlants([plant]), { replayed: 1 })
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
  const { serial, ...fields } = OWN
  await client.createPlant({ id: 20n, name: 'Abies', ...fields })
  const { plant } = await plain.getPlant(20n)
  t.strictSame(plant, { id: 20n, name: 'Abies', ...fields })
  await plain.replacePlant(20n, { ...plant, name: 'Acer' })
  await plain.updatePlant(20n, { tag: 'Tree' })
  t.strictSame((await client.getPlant(20n)).plant, {
    id: 20n,
    name: 'Acer',
    tag: 'Tree',
    ...fields,
  })
  t.match(await thrownBy(plain.createPlant({ id: 20n, name: 'Acer', tag: 'Tree' })), {
    condition: 'plant-exists',
  })
  t.strictSame(await plain.createPlant({ id: 21n, name: 'Acer' }), { plant: { name: 'Acer' } })
})

/** The tags that the page computes, and lists of plants whose tags it does not know. */
import { equal } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { createClient, type StoredPlant } from '../../../client/client.ts'
import { tagOf } from '../../../page/changes/plant-tag.ts'
import { int64Fields } from '../../../page/model/current-members.ts'
import { connectThrough, type FaultyProxy } from '../../client/faulty-proxy.ts'
import { anyText, storable } from '../../helpers/plants/arbitraries.ts'
import { runs } from '../../helpers/plants/runs.ts'
import { type Service, startService } from '../../helpers/service/service.ts'
import { describeService, FIELDS, FIR } from '../own-fields/nursery.ts'
import { adding, named, removing, run, store, tagging } from './run.ts'

let service: Service
t.before(async () => {
  service = await startService(t, { fields: FIELDS })
})

const long = anyText({ maxLength: 300 }).filter((text) => !text.includes('\0'))
const text = fc.oneof(storable, long)
const number = fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 })
const content = fc.record(
  {
    name: text,
    tag: text,
    height: fc.integer({ min: 0, max: 10_000 }),
    planted: fc.constantFrom('2026-03-21', '2026-11-26'),
    light: fc.constantFrom('sun', 'half shade', 'shade'),
    // fast-check's own generator of URLs first builds a table of all characters, which takes a second.
    photo: fc.tuple(fc.domain(), text).map(([host, path]) => `https://${host}/${encodeURI(path)}`),
    price: fc.oneof(
      number,
      fc.nat().map((cents) => cents / 100),
    ),
    inStock: fc.boolean(),
    constructor: text,
    id2: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  },
  { requiredKeys: ['name'], noNullPrototype: true },
)
/** A request for each would take longer than the rest. */
const many = { minLength: 10, maxLength: 10 }

const plain = fc.record({ name: text, tag: text }, { requiredKeys: ['name'] })

t.test('the tag of any plant is that of the service', async (t) => {
  describeService(t)
  const client = createClient({ url: service.url, token: service.token, int64Fields })
  let id = 1n
  const tagged = fc.asyncProperty(fc.array(fc.oneof(plain, content), many), async (plants) => {
    const stored = plants.map((plant, index) => ({ ...plant, id: id + BigInt(index) }))
    id += BigInt(plants.length)
    await client.createPlants(stored)
    for (const plant of stored) {
      const { plant: read, etag } = await client.getPlant(plant.id)
      equal(await tagOf(plant), etag)
      equal(await tagOf(read), etag)
    }
  })
  await fc.assert(tagged, { numRuns: runs(20) })
  await client.createPlant({ ...FIR, id })
  t.equal(await tagOf(FIR), (await client.getPlant(id)).etag)
})

const methodsOf = ({ requests }: FaultyProxy) => requests.map(({ line }) => line.split(/[?\d]/)[0])

t.test('plants with own fields and long text are changed in lists', async (t) => {
  describeService(t)
  const plants = [
    { ...FIR, id: 1001n },
    { ...FIR, id: 1002n, name: 'Abies '.repeat(50) },
    { id: 1003n, name: '\u{1f331}'.repeat(100) },
  ]
  const { client, proxy } = await connectThrough(t, service, [], { int64Fields })
  const added = await run(t, service, plants.map(adding), { client })
  const tagged = await run(t, service, plants.map(tagging('Shrub')), { client })
  const back = await run(t, service, tagged.undo, { client })
  const removed = await run(t, service, added.undo, { client })
  t.match([tagged, back, removed], [{ counts: { changed: 3 } }, { counts: { changed: 3 } }, {}])
  t.equal(removed.counts.removed, 3)
  t.same(methodsOf(proxy), Array(4).fill('PATCH /plants'))
})

/** Hides a field, as a service does whose operator has not given it. The entity tags stay those of whole plants. */
async function fetchWithoutHeight(request: Request): Promise<Response> {
  const response = await fetch(request)
  const text = await response.text()
  return new Response(text.replaceAll(/,"height":\d+/g, '') || null, response)
}

t.test('plants with hidden fields are changed one by one, after one try', async (t) => {
  const full = createClient({ url: service.url, token: service.token })
  // A list of the page has almost all of them.
  const name = 'Acer'.padEnd(13_110, '.')
  const ids = named('', 2001, 20).map(({ id }) => id)
  const height = (id: bigint) => ({ id, name, height: Number(id % 100n) })
  await full.createPlants(ids.map(height))
  const { client, proxy } = await connectThrough(t, service, [], { fetch: fetchWithoutHeight })
  const seen = await Array.fromAsync(client.plants({ id: ids }))
  t.strictSame(seen, named(name, 2001, 20))
  await store(service, named('Alnus', 3001, 10))
  const later = [
    ...named('Alnus', 3001, 10).map(removing),
    ...named('Betula', 4001, 10).map(adding),
  ]
  const { counts, undo } = await run(t, service, [...seen.map(tagging('Tree')), ...later], {
    client,
  })
  t.same(counts, { created: 10, changed: 20, removed: 10, unchanged: 0 })
  t.equal(undo.length, 40)
  const lists = methodsOf(proxy).filter((method) => method === 'PATCH /plants')
  t.equal(lists.length, 3, 'two with tags, and one to add plants')
  t.strictSame((await full.getPlant(2001n)).plant, { ...height(2001n), tag: 'Tree' } as StoredPlant)
})

t.test('where the browser cannot hash, plants with long text are changed one by one', async (t) => {
  const plants = [{ id: 5001n, name: 'Carex '.repeat(50) }, ...named('Carex', 5002, 2)]
  await store(service, plants)
  t.intercept(crypto, 'subtle', { value: undefined })
  const { client, proxy } = await connectThrough(t, service)
  const { counts } = await run(t, service, plants.map(removing), { client })
  t.equal(counts.removed, 3)
  t.same(methodsOf(proxy), ['GET /plants/', 'DELETE /plants/', 'PATCH /plants'])
})

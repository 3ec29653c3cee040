/** Lists of plants with any content, which the changes expect. */
import { equal } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { int64Fields } from '../../../page/model/current-members.ts'
import { connectThrough, type FaultyProxy } from '../../client/faulty-proxy.ts'
import { anyText, storable } from '../../helpers/plants/arbitraries.ts'
import { runs } from '../../helpers/plants/runs.ts'
import { type Service, startService } from '../../helpers/service/service.ts'
import { adding, renaming, run, tagging } from '../changes/run.ts'
import { describeService, FIELDS, FIR } from './nursery.ts'

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

t.test('the content of any plant that is read is what the service expects', async (t) => {
  describeService(t)
  // Pages without HTTPS have no hashes.
  t.intercept(crypto, 'subtle', { value: undefined })
  const { client, proxy } = await connectThrough(t, service, [], { int64Fields })
  let id = 1n
  const changed = fc.asyncProperty(fc.array(fc.oneof(plain, content), many), async (contents) => {
    const plants = contents.map((plant, index) => ({ ...plant, id: id + BigInt(index) }))
    id += BigInt(plants.length)
    await client.createPlants(plants)
    const read = await Array.fromAsync(client.plants({ id: plants.map(({ id }) => id) }))
    proxy.requests.length = 0
    const { counts } = await run(t, service, read.map(renaming('a name of its own')), { client })
    equal(counts.changed, plants.length)
    equal(proxy.requests.length, 1)
  })
  await fc.assert(changed, { numRuns: runs(20) })
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

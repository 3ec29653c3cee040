/** Plants with own fields: their numbers are exact, and clients that do not know the fields pass them through. */
import t, { type Test } from 'tap'
import { type ClientOptions, parseJson } from '../../client/client.ts'
import { type Service, startService } from '../helpers/service.ts'
import { answered, connectThrough, thrownBy } from './faulty-proxy.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

/** A client that receives these bodies, in order. */
const receive = async (
  t: Test,
  bodies: readonly string[],
  options: Partial<ClientOptions> = {},
) => {
  const headers = { etag: '"x"', link: '<?after=1>; rel="next"' }
  const faults = bodies.map((body) => answered(200, headers, body))
  return (await connectThrough(t, service, faults, options)).client
}

const FIELDS = '"height":120,"price":24.5,"serial":9007199254740993'
const STORED = `{"id":4,"name":"Abies",${FIELDS}}`
const CHANGE = `{"cursor":"x","at":"x","type":"created","id":4,"plant":{"name":"Abies",${FIELDS}}}`
const OWN = { height: 120, price: 24.5, serial: 9007199254740993n }

/** Each way to receive a plant, with its response. */
const READS = {
  createPlant: [
    `{"name":"Abies",${FIELDS}}`,
    (client) => client.createPlant({ id: 4n, name: 'Abies' }).then(({ plant }) => plant),
  ],
  listPlants: [`[${STORED}]`, (client) => client.listPlants().then(({ plants }) => plants[0])],
  plants: [
    `[${STORED}]`,
    (client) =>
      client
        .plants()
        .next()
        .then(({ value }) => value),
  ],
  getPlant: [STORED, (client) => client.getPlant(4n).then(({ plant }) => plant)],
  replacePlant: [
    STORED,
    (client) => client.replacePlant(4n, { name: 'Abies' }).then(({ plant }) => plant),
  ],
  updatePlant: [STORED, (client) => client.updatePlant(4n, {}).then(({ plant }) => plant)],
  listChanges: [
    `[${CHANGE}]`,
    (client) => client.listChanges().then(({ changes }) => changes[0]?.plant),
  ],
  changes: [
    `[${CHANGE}]`,
    (client) =>
      client
        .changes()
        .next()
        .then(({ value }) => value?.plant),
  ],
} satisfies Record<
  string,
  [body: string, read: (client: Awaited<ReturnType<typeof receive>>) => Promise<unknown>]
>

for (const [name, [body, read]] of Object.entries(READS)) {
  t.test(`${name} returns own fields, and those in int64Fields as bigints`, async (t) => {
    t.match(await read(await receive(t, [body], { int64Fields: ['serial'] })), {
      name: 'Abies',
      ...OWN,
    })
  })

  t.test(`${name} rejects an int64 of a field that is not in int64Fields`, async (t) => {
    t.match(await thrownBy(read(await receive(t, [body]))), {
      name: 'UnexpectedAnswerError',
      status: 200,
      message:
        /: status 200: the value of "serial" would be rounded; if it is an int64, add the field to int64Fields: 9007199254740993$/,
    })
  })
}

t.test('the counts of a batch or list are numbers, even if fields have their names', async (t) => {
  const int64Fields = ['created', 'replayed', 'changed', 'removed', 'unchanged']
  const batch = { created: 1, replayed: 2 }
  const counts = { created: 1, changed: 2, removed: 3, unchanged: 4 }
  const client = await receive(t, [JSON.stringify(batch), JSON.stringify(counts)], { int64Fields })
  t.strictSame(await client.createPlants([{ id: 4n, name: 'Abies' }]), batch)
  t.strictSame(await client.changePlants([{ op: 'remove', id: 4n }]), counts)
})

t.test('a field can have any name', async (t) => {
  const names = ['constructor', 'toString', 'id2', 'Höhe', '0', 'toJSON', 'plant', 'cursor']
  const members = names.map((name) => `"${name}":9007199254740993`).join()
  const client = await receive(t, [`{"id":4,"name":"Abies",${members}}`], { int64Fields: names })
  const { plant } = await client.getPlant(4n)
  for (const name of names) t.equal(Object(plant)[name], 9007199254740993n, name)

  const unlisted = await receive(t, ['{"id":4,"name":"Abies","constructor":1,"id2":2}'])
  t.strictSame((await unlisted.getPlant(4n)).plant, {
    id: 4n,
    name: 'Abies',
    constructor: 1,
    id2: 2,
  })
})

t.test('a number is exact or rejected', async (t) => {
  for (const [source, value] of [
    ['0', 0],
    ['9007199254740992', 9007199254740992],
    ['-9007199254740991', -9007199254740991],
    ['9007199254740993', undefined],
    ['-9223372036854775808', undefined],
    ['0.1', 0.1],
    ['2.2250738585072014e-308', 2.2250738585072014e-308],
    ['1e+21', 1e21],
    ['1.50000000000000000', 1.5],
    ['-0', 0],
    ['0.1000000000000000055', undefined],
    ['1e400', undefined],
  ] as const) {
    const parse = () => parseJson(`{"price":${source}}`)
    if (value !== undefined) t.strictSame(parse(), { price: value }, source)
    else t.throws(parse, { name: 'RangeError', message: /^the value of "price" would be rounded/ })
  }
})

t.test(
  'a field in int64Fields is a bigint within int64, and otherwise exact or rejected',
  async (t) => {
    const parse = (serial: string) => Object(parseJson(`{"serial":${serial}}`, ['serial'])).serial
    t.equal(parse('5'), 5n)
    t.equal(parse('9223372036854775807'), 2n ** 63n - 1n)
    t.equal(parse('1.5'), 1.5)
    t.equal(parse('null'), null)
    t.throws(() => parse('9223372036854775808'), { name: 'RangeError' })
  },
)

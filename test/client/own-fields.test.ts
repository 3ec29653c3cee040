/** Plants with own fields: their numbers are exact, and clients that do not know the fields pass them through. */
import t, { type Test } from 'tap'
import { type ClientOptions, parseJson, toJson } from '../../client/client.ts'
import { type Service, startService } from '../helpers/service.ts'
import { answered, connectThrough } from './faulty-proxy.ts'

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
  t.test(`${name} returns own fields, and an int64 as a bigint, listed or not`, async (t) => {
    for (const options of [{ int64Fields: ['serial'] }, {}]) {
      t.match(await read(await receive(t, [body], options)), { name: 'Abies', ...OWN })
    }
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

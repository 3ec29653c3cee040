/** Own fields that are gone from the contract: their values are kept, and not shown. */
import t from 'tap'
import { known } from '../../../core/known.ts'
import type { OwnField } from '../../../core/members/own-fields.ts'
import { contentVersion } from '../../../service/store/content-version.ts'
import { plantJson } from '../../../service/store/plant-content.ts'
import { EventStream } from '../../helpers/network/event-stream.ts'
import { latestCursor } from '../../helpers/plants/changes.ts'
import { createIn, removeFrom } from '../../helpers/plants/single-changes.ts'
import { type Service, startService } from '../../helpers/service/service.ts'

const all: readonly OwnField[] = [
  { name: 'height', schema: { type: 'integer', format: 'int32' } },
  { name: 'serial', schema: { type: 'integer', format: 'int64' } },
  { name: 'constructor', schema: { type: 'string' } },
  { name: 'Höhe "1"', schema: { type: 'number' } },
  { name: '0', schema: { type: 'string' } },
  { name: '7', schema: { type: 'boolean' } },
]

/** The contract afterwards. */
const left = all.filter(({ name }) => ['serial', '0'].includes(name))

const HIDDEN = '"7":true,"Höhe \\"1\\"":0.5,"constructor":"\\u0001","height":120'
const SHOWN = '"0":"x","serial":-9223372036854775808'
const STORED = `"0":"x",${HIDDEN},"serial":-9223372036854775808`

/** A service with some of the fields that its database has. */
let service: Service
/** The cursor before the plants of a test. */
let start: string
t.before(async () => {
  service = await startService(t, { fields: left, storedFields: all })
})

/** Plant 1 has all fields. */
t.beforeEach(async () => {
  const { store } = service
  for (const id of [1n, 2n, 3n, 4n]) await removeFrom(store, id)
  start = await latestCursor(service)
  await createIn(store, { id: 1n, name: 'Abies', tag: 'Tree', fields: STORED })
  await createIn(store, { id: 2n, name: 'Picea', fields: '"height":5' })
  await createIn(store, { id: 3n, name: 'Tilia' })
})

/** The stored plant with all its fields. */
async function storedPlant(id = 1n): Promise<string> {
  return plantJson(known(await service.store.get(id)))
}

const plant = (name: string, fields: string) => `{"id":1,"name":"${name}","tag":"Tree",${fields}}`

t.test('no response has hidden fields', async (t) => {
  const stream = await EventStream.open(t, service, { path: `/changes?after=${start}` })
  const [one, two, three] = [
    plant('Abies', SHOWN),
    '{"id":2,"name":"Picea"}',
    '{"id":3,"name":"Tilia"}',
  ]
  for (const [path, body] of [
    ['/plants/1', one],
    ['/plants/2', two],
    ['/plants', `[${one},${two},${three}]`],
    ['/plants?id=2&id=1', `[${one},${two}]`],
    ['/plants?tag=Tree&count=true', `[${one}]`],
    ['/plants?q=PICEA', `[${two}]`],
    ['/plants?untagged=true&limit=1', `[${two}]`],
  ] as const)
    t.equal((await service.call({ method: 'GET', path })).body, body, path)
  const contents = [`{"name":"Abies","tag":"Tree",${SHOWN}}`, '{"name":"Picea"}']
  for (const query of ['limit=2', 'limit=2&wait=1']) {
    const path = `/changes?after=${start}&${query}`
    const { body } = await service.call({ method: 'GET', path })
    t.same(body.match(/(?<="plant":)\{.*?\}(?=,"endsTransaction":true\})/g), contents, path)
  }
  for (const content of contents)
    t.match(await nextEvent(stream), `"plant":${content},"endsTransaction":true}`)
})

t.test('creates succeed again without knowledge of hidden fields', async (t) => {
  const created = { status: 200, body: `{"name":"Abies","tag":"Tree",${SHOWN}}` }
  t.match(await service.call({ body: plant('Abies', SHOWN) }), created)
  const ignored = `${SHOWN},"height":1,"constructor":null,"7":"x"`
  t.match(await service.call({ body: plant('Abies', ignored) }), created)
  t.match(await service.call({ path: '/plants/batch', body: `[${plant('Abies', SHOWN)}]` }), {
    json: { created: 0, replayed: 1 },
  })
  for (const conflict of ['"0":"x"', '"0":"y","serial":-9223372036854775808', `"7":true,"0":""`])
    t.match(await service.call({ body: plant('Abies', conflict) }), { status: 409 }, conflict)
  t.match(await service.call({ body: '{"id":4,"name":"Acer","height":1}' }), { status: 200 })
  t.equal(await storedPlant(), plant('Abies', STORED))
  t.equal(await storedPlant(4n), '{"id":4,"name":"Acer"}')
})

t.test('changes keep hidden fields, and an entity tag stays that of the whole plant', async (t) => {
  const path = '/plants/1'
  const shownTag = async () => (await service.call({ method: 'GET', path })).headers.etag
  const storedTag = async () => `"${contentVersion(known(await service.store.get(1n)))}"`
  let etag = await shownTag()
  t.equal(etag, await storedTag())
  t.match(await service.call({ method: 'GET', path, headers: { 'if-none-match': etag } }), {
    status: 304,
  })
  const kept = (fields: string) => `"0":"y",${HIDDEN}${fields}`
  for (const [method, body, shown, stored] of [
    ['PUT', '"name":"Abies","tag":"Tree","0":"y","height":9', '"0":"y"', kept('')],
    ['PATCH', '"serial":7,"height":null', '"0":"y","serial":7', kept(',"serial":7')],
    ['PATCH', '"serial":null,"constructor":"x"', '"0":"y"', kept('')],
  ] as const) {
    const change = { method, path, body: `{${body}}`, headers: { 'if-match': etag } }
    const answer = await service.call(change)
    t.match(answer, { status: 200, body: plant('Abies', shown) })
    t.match(await service.call(change), { status: 412 })
    const current = await storedTag()
    // The plant has fields that the PUT did not contain (RFC 9110 §9.3.4).
    t.equal(answer.headers.etag, method === 'PUT' ? undefined : current)
    t.equal(await storedPlant(), plant('Abies', stored))
    etag = current
  }
  const list = async (json: string) => {
    const body = `[{"id":1,"ifMatch":${JSON.stringify(etag)},${json}}]`
    return (await service.call({ method: 'PATCH', body })).json
  }
  t.match(await list('"op":"replace","name":"Abies","tag":"Tree","0":"y"'), { unchanged: 1 })
  t.match(await list('"op":"update","0":null'), { changed: 1 })
  t.match(await list('"op":"update","name":"Acer"'), { message: /changed/ })
  etag = await shownTag()
  const listWith = async (content: string, json: string) =>
    (await service.call({ method: 'PATCH', body: `[{"id":1,"ifContent":${content},${json}}]` }))
      .json
  const update = '"op":"update","tag":"Tree"'
  t.match(await listWith('{"name":"Abies","tag":"Tree","0":"y"}', update), { message: /changed/ })
  t.match(await listWith('{"name":"Abies","tag":"Tree","height":120}', update), {
    message: /height/,
  })
  t.match(await listWith('{"name":"Abies","tag":"Tree"}', update), { unchanged: 1 })
  t.match(await list('"op":"update","height":1'), { message: /height/ })
  t.match(await list('"op":"replace","name":"Acer"'), { changed: 1 })
  t.equal(await storedPlant(), `{"id":1,"name":"Acer",${HIDDEN}}`)
})

t.test('a plant that is removed and created again has none', async (t) => {
  await service.call({ method: 'DELETE', path: '/plants/1' })
  t.match(await service.call({ body: plant('Abies', '"0":"x"') }), { status: 200 })
  t.equal(await storedPlant(), plant('Abies', '"0":"x"'))
})

/** The text of the next event, after any comments. */
async function nextEvent(stream: EventStream): Promise<string | undefined> {
  for (;;) {
    const block = await stream.nextBlock()
    if (block !== ':') return block
  }
}

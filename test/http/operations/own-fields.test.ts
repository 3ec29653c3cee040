/** Own fields at their limits. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { readOverlay } from '../../../core/contract/overlay/overlay.ts'
import { OWN_FIELDS_MAX, type OwnField } from '../../../core/members/own-fields.ts'
import { writeOverlay } from '../../helpers/service/overlay.ts'
import { type Service, startService } from '../../helpers/service/service.ts'

/** Names that a careless program confuses with other members, reorders, inherits or does not quote. */
const NAMES = [
  ...['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__', 'prototype'],
  ...['id2', 'Id', 'ETag', 'type', 'fields', 'clears', 'expected', 'patch', 'plant', 'then'],
  ...['0', '10', '9', '-1', '1e3', 'null', ' ', '"', "'", '\\', '/', '~1', '%', ':', '}'],
  ...['x$ref', 'default', 'enum', 'required', 'items'],
  ...['properties', 'allOf', 'oneOf', 'discriminator', 'nullable', 'format', 'int64', 'storable'],
  ...['Höhe', '\u00e9', 'e\u0301', '\u2028', '\ufeff', '\uffff', '\u{1f331}'.repeat(100)],
]

const FILLED = Array.from({ length: OWN_FIELDS_MAX - NAMES.length }, (_, index) => `f${index}`)

const named: readonly OwnField[] = [...NAMES, ...FILLED].map((name) => ({
  name,
  schema: { type: 'string' },
}))

/** The order of own fields in JSON. */
const SORTED = named.map(({ name }) => name).sort()

const membersOf = (value: (name: string) => string, names = SORTED) =>
  names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(value(name))}`).join()

/** A service whose plants have the fields in `named`. Each test finds it empty. */
let service: Service
t.before(async () => {
  service = await startService(t, {
    fields: readOverlay(readFileSync(writeOverlay(t, named))).fields,
  })
})
t.beforeEach(() => service.call({ method: 'DELETE', path: '/plants/1' }))

async function read(service: Service, path: string): Promise<string> {
  const { status, body } = await service.call({ method: 'GET', path })
  return status === 200 ? body : `${status}: ${body}`
}

t.test('a plant can have 100 fields with any names', async (t) => {
  const all = membersOf((name) => `${name} "\u0001`)
  for (const order of [SORTED, SORTED.toReversed()]) {
    const body = `{${membersOf((name) => `${name} "\u0001`, order)},"name":"Abies","id":1}`
    const created = await service.call({ body })
    t.match(created, { status: 200, body: `{"name":"Abies",${all}}` })
  }
  const stored = `{"id":1,"name":"Abies",${all}}`
  t.equal(await read(service, '/plants/1'), stored)
  for (const query of ['', '?id=1', '?q=abies', '?untagged=true', '?count=true'])
    t.equal(await read(service, `/plants${query}`), `[${stored}]`, query)
  t.match(
    await read(service, '/changes'),
    `"plant":{"name":"Abies",${all}},"endsTransaction":true}]`,
  )

  const cleared = SORTED.filter((_, index) => index % 2 === 0)
  const kept = SORTED.filter((_, index) => index % 2 === 1)
  const patch = `{${cleared.map((name) => `${JSON.stringify(name)}:null`).join()}}`
  const left = `{"id":1,"name":"Abies",${membersOf((name) => `${name} "\u0001`, kept)}}`
  const path = '/plants/1'
  t.equal((await service.call({ method: 'PATCH', path, body: patch })).body, left)
  t.equal(await read(service, path), left)
  const put = `{"name":"Abies",${membersOf(() => '', cleared)}}`
  const replaced = `{"id":1,${put.slice(1)}`
  t.equal((await service.call({ method: 'PUT', path, body: put })).body, replaced)
  t.equal((await service.call({ method: 'PUT', path, body: { name: 'Abies' } })).body, BARE)
  t.equal(await read(service, path), BARE)
})

const BARE = '{"id":1,"name":"Abies"}'

t.test('a change list can have the fields that are named like parts of a change', async (t) => {
  const own = '"clears":"c","expected":"e","fields":"f","patch":"p","type":"remove"'
  const change = async (json: string) => {
    const { status, body } = await service.call({ method: 'PATCH', body: `[${json}]` })
    return `${status} ${body}`
  }
  const counts = { created: 0, changed: 0, removed: 0, unchanged: 0 }
  const done = (effect: object) => `200 ${JSON.stringify({ ...counts, ...effect })}`
  t.equal(await change(`{"op":"create","id":1,"name":"Abies",${own}}`), done({ created: 1 }))
  t.equal(await change(`{"op":"create","id":1,"name":"Abies",${own}}`), done({ unchanged: 1 }))
  t.match(await change('{"op":"create","id":1,"name":"Abies"}'), /^409 /)
  t.equal(await change(`{"op":"update","id":1,"type":null}`), done({ changed: 1 }))
  const left = own.replace(/,"type".*/, '')
  t.equal(await read(service, '/plants/1'), `{"id":1,"name":"Abies",${left}}`)
  t.equal(await change(`{"op":"replace","id":1,"name":"Abies",${left}}`), done({ unchanged: 1 }))
  t.equal(await change('{"op":"replace","id":1,"name":"Abies"}'), done({ changed: 1 }))
  t.match(await change('{"op":"update","id":1,"color":"red"}'), /^400 .*color/)
})

t.test('a create can have 100,000 unknown members next to own fields', async (t) => {
  const own = membersOf((name) => name)
  // A quadratic time would exceed the limit of the test.
  const unknown = Array.from({ length: 100_000 }, (_, index) => `"${index.toString(36)}_":0`)
  const body = `{"id":1,"name":"Abies",${unknown.join()},${own}}`
  t.ok(Buffer.byteLength(body) < 2 ** 20)
  t.match(await service.call({ body }), { status: 200, body: `{"name":"Abies",${own}}` })
  t.equal(await read(service, '/plants/1'), `{"id":1,"name":"Abies",${own}}`)
})

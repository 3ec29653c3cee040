/** Media types, charsets and content codings of bodies. */
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { formatHead } from '../../helpers/network/connection.ts'
import { type Service, sendRaw, startService } from '../../helpers/service/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
  await service.call({ body: { id: 4n, name: 'Abies' } })
})

const JSON_TYPE = 'application/json'
const PATCH_TYPE = 'application/merge-patch+json'

/** A change that succeeds, for each method. */
const CALLS = {
  POST: { body: { id: 4n, name: 'Abies' } },
  PUT: { method: 'PUT', path: '/plants/4', body: { name: 'Abies' } },
  PATCH: { method: 'PATCH', path: '/plants/4', body: { name: 'Abies' } },
  'PATCH of a list': { method: 'PATCH', path: '/plants', body: [{ op: 'update', id: 4n }] },
}
const rejected = { id: 5n, name: 'rejected' }

for (const [method, right, wrong, acceptPatch] of [
  [
    'POST',
    [
      ...[JSON_TYPE, 'application/json;charset=utf-8', 'application/json; charset="UTF-8"'],
      ...['APPLICATION/JSON', 'application/json; charset=utf8', 'application/json;odata=verbose'],
      // RFC 9110 §5.6.6: a quoted value is no further parameter, and can have quoted pairs.
      ...['application/json;', 'application/json; x="; charset=utf-16"'],
      ...['application/json; x="a\\";charset=latin1"', 'application/json; charset="utf\\-8"'],
      'application/json; x="a;b"; charset=UTF-8',
    ],
    [
      ...['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'application/jsonx'],
      ...['application/vnd.api+json', 'json', '*/*', 'application/json, text/plain', ';', '/', ''],
      'application/x-www-form-urlencoded',
    ],
    undefined,
  ],
  ['PUT', [JSON_TYPE], [PATCH_TYPE, 'application/x-www-form-urlencoded', ''], undefined],
  [
    'PATCH',
    [PATCH_TYPE, JSON_TYPE],
    ['application/json-patch+json', 'text/plain', '*/*', ''],
    `${PATCH_TYPE}, ${JSON_TYPE}`,
  ],
  ['PATCH of a list', [JSON_TYPE], [PATCH_TYPE], JSON_TYPE],
] as const) {
  t.test(`${method} accepts only its media types, and a 415 lists those of PATCH`, async (t) => {
    const send = (type: string, more: object = {}) =>
      service.call({ ...CALLS[method], ...more, headers: { 'content-type': type } })
    for (const type of right) {
      t.equal((await send(type)).status, 200, type)
      t.match((await send(type, { body: '{' })).json, { error: 40001 }, type)
    }
    const types = right.filter((type) => type === JSON_TYPE || type === PATCH_TYPE)
    const message = `the Content-Type must be ${types.join(' or ')}`
    for (const type of wrong) {
      const answer = await send(type)
      t.match(answer, { status: 415, json: { error: 41501, message } }, type)
      t.equal(answer.headers['accept-patch'], acceptPatch, 'RFC 5789 §2.2')
    }
    t.match(await send(`${types[0]}; charset=latin1`), { status: 415, json: { error: 41502 } })
  })
}

t.test('a body without a content type is rejected', async (t) => {
  const body = JSON.stringify({ id: 5, name: 'rejected' })
  const head = formatHead(service, 'POST /plants', `Content-Length: ${body.length}\r\n`)
  const [answer] = await sendRaw(service.port, head + body)
  t.match(answer, { status: 415, body: /41501/ })
})

for (const charset of [
  ...['latin1', 'iso-8859-1', 'utf-16', 'utf-7', '"UTF-16"', 'nonsense', '""'],
  ...['"utf-8;"', '"utf-8\\""', 'utf-8; x="y"; charset=utf-16'],
]) {
  t.test(`the charset ${charset} is rejected`, async (t) => {
    const headers = { 'content-type': `application/json; charset=${charset}` }
    const answer = await service.call({ body: rejected, headers })
    t.match(answer, { status: 415, json: { error: 41502 } })
  })
}

t.test('the only content coding is identity, which a 415 says (RFC 9110 §12.5.3)', async (t) => {
  for (const coding of ['gzip', 'br', 'deflate', 'identity, gzip', 'nonsense']) {
    const headers = { 'content-encoding': coding }
    const answer = await service.call({ body: gzipSync(JSON.stringify('x')), headers })
    t.match(answer, { status: 415, json: { error: 41503 } }, coding)
    t.equal(answer.headers['accept-encoding'], 'identity')
  }
  const other = await service.call({ body: rejected, headers: { 'content-type': 'text/plain' } })
  t.equal(other.headers['accept-encoding'], undefined)
  const headers = { 'content-encoding': 'Identity' }
  t.equal((await service.call({ ...CALLS.POST, headers })).status, 200)
})

t.test('nothing that was rejected is stored', async (t) => {
  t.equal(await service.count(), 1)
})

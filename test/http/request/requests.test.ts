/** Invalid requests, except for invalid JSON: media types, codings, sizes, paths and methods. */
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { assertIntact } from '../../helpers/rejection.ts'
import { type Call, type Service, sendRaw, startService } from '../../helpers/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

function test(name: string, request: (t: Test) => Promise<void>): void {
  t.test(name, async (t) => {
    await request(t)
    await assertIntact(t, service)
  })
}

const body = { id: 2n, name: 'rejected' }
const json = '{"id": 2, "name": "rejected"}'

for (const type of [
  ...['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'application/jsonx'],
  ...['application/vnd.api+json', 'json', '*/*', 'application/json, text/plain', ';', '/'],
  'application/x-www-form-urlencoded',
]) {
  test(`the content type ${type} is rejected`, async (t) => {
    await assertAnswer(t, { body, headers: { 'content-type': type } }, 415, 41501)
  })
}

test('a body without a content type is rejected', async (t) => {
  const [answer] = await sendRaw(service.port, head({ 'Content-Length': json.length }) + json)
  t.match(answer, { status: 415, body: /41501/ })
})

for (const charset of [
  ...['latin1', 'iso-8859-1', 'utf-16', 'utf-7', '"UTF-16"', 'nonsense', '""'],
  ...['"utf-8;"', '"utf-8\\""', 'utf-8; x="y"; charset=utf-16'],
]) {
  test(`the charset ${charset} is rejected`, async (t) => {
    const headers = { 'content-type': `application/json; charset=${charset}` }
    await assertAnswer(t, { body, headers }, 415, 41502)
  })
}

for (const type of [
  ...['application/json;charset=utf-8', 'application/json; charset="UTF-8"', 'APPLICATION/JSON'],
  ...['application/json; charset=utf8', 'application/json;odata=verbose', 'application/json;'],
  // RFC 9110 §5.6.6: a quoted value is no further parameter, and can have quoted pairs.
  ...['application/json; x="; charset=utf-16"', 'application/json; x="a\\";charset=latin1"'],
  ...['application/json; charset="utf\\-8"', 'application/json; x="a;b"; charset=UTF-8'],
]) {
  test(`the content type ${type} is accepted`, async (t) => {
    const headers = { 'content-type': type }
    await assertAnswer(t, { body: { id: 3n, name: 'accepted' }, headers }, 200)
    await assertAnswer(t, { body: { id: '3', name: 'rejected' }, headers }, 400, 40002)
  })
}

for (const coding of ['gzip', 'br', 'deflate', 'identity, gzip', 'nonsense']) {
  test(`the content coding ${coding} is rejected`, async (t) => {
    const headers = { 'content-encoding': coding }
    await assertAnswer(t, { body: gzipSync(json), headers }, 415, 41503)
  })
}

test('RFC 9110 §12.5.3: only a 415 for a content coding says which one is accepted', async (t) => {
  for (const [headers, accepted] of [
    [{ 'content-encoding': 'gzip' }, 'identity'],
    [{ 'content-type': 'text/plain' }, undefined],
  ] as const) {
    const answer = await service.call({ body, headers })
    t.match(answer, { status: 415 })
    t.equal(answer.headers['accept-encoding'], accepted)
  }
})

test('the content coding identity is accepted', async (t) => {
  const headers = { 'content-encoding': 'Identity' }
  await assertAnswer(t, { body: { id: 3n, name: 'accepted' }, headers }, 200)
})

test('a missing body is rejected', async (t) => {
  await assertAnswer(t, {}, 400, 40002)
  await assertAnswer(t, { headers: { 'content-length': '0' } }, 400, 40002)
  // Node's client always sends a length.
  const [answer] = await sendRaw(service.port, head({ 'Content-Type': 'application/json' }))
  t.match(answer, { status: 400, body: /40001/ })
})

test('a body at the limit is accepted, one byte more is rejected', async (t) => {
  const limit = 1024 * 1024
  await assertAnswer(t, { body: '{"id": 4, "name": "accepted"}'.padEnd(limit) }, 200)
  await assertAnswer(t, { body: json.padEnd(limit + 1) }, 413, 41301)
})

test('a chunked body over the limit is rejected', async (t) => {
  const headers = { 'transfer-encoding': 'chunked' }
  await assertAnswer(t, { body: json.padEnd(3 * 1024 * 1024), headers }, 413, 41301)
})

test('headers over the limit are rejected', async (t) => {
  await assertAnswer(t, { body, headers: { 'x-long': 'x'.repeat(20_000) } }, 431, 43101)
})

test('a path over the limit is rejected', async (t) => {
  await assertAnswer(t, { path: `/${'x'.repeat(20_000)}` }, 431, 43101)
})

const paths = ['/plant', '/plants/1/2', '/PLANTS/1', '/PLANTS']
for (const path of [...paths, '/plants%00', '/..', '/health', '/health/livez', '/plants%2F1']) {
  test(`the path ${path} is unknown`, async (t) => {
    await assertAnswer(t, { method: 'GET', path }, 404, 40401)
    await assertAnswer(t, { path, body: 'not JSON' }, 404, 40401)
  })
}

test('an unknown path gets 404 at any length that fits in a request head', async (t) => {
  await assertAnswer(t, { method: 'GET', path: `/${'x'.repeat(10_000)}` }, 404, 40401)
})

t.test('an encoded spelling of /plants/batch is the same path', async (t) => {
  const headers = { authorization: `Bearer ${service.token}` }
  const { status } = await fetch(`${service.url}/plants/%62atch`, { headers })
  t.equal(status, 405)
})

test('a wrong method on an open path gets 405 without a token', async (t) => {
  const answer = await assertAnswer(t, { path: '/health/live', token: null }, 405, 40501)
  t.equal(answer.headers.allow, 'GET, HEAD, OPTIONS')
})

test('a path that is not percent-encoded UTF-8 is rejected', async (t) => {
  for (const path of ['/%zz', '/%', '/plants/%ff', '/%c0%af']) {
    await assertAnswer(t, { path, body }, 400, 40003)
  }
})

function authorization(): string {
  return `Authorization: Bearer ${service.token}\r\n`
}

/** The head of a create with a token. */
function head(headers: Record<string, string | number>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST /plants HTTP/1.1\r\nHost: x\r\n${authorization()}${lines.join('')}\r\n`
}

async function assertAnswer(t: Test, call: Call, status: number, error?: number) {
  const answer = await service.call(call)
  t.equal(answer.status, status, answer.body)
  if (error !== undefined) t.match(answer.json, { error })
  return answer
}

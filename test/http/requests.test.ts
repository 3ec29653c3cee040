/** What is wrong with a request outside of its JSON: each has its documented 4xx, and the server lives. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import {
  answersOf,
  type Call,
  readAll,
  type Service,
  sendRaw,
  startService,
} from '../helpers/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

/** Tests a request, and that it did no harm. */
function test(name: string, request: (t: Test) => Promise<void>): void {
  t.test(name, async (t) => {
    await request(t)
    const answer = await service.call({ body: { id: 1n, name: 'alive' } })
    t.equal(answer.status, 200, 'the server lives')
    t.equal(await service.count('refused'), 0, 'nothing refused was stored')
  })
}

const body = { id: 2n, name: 'refused' }
const json = '{"id": 2, "name": "refused"}'

for (const type of [
  ...['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'application/jsonx'],
  ...['application/vnd.api+json', 'json', '*/*', 'application/json, text/plain', ';', '/'],
  'application/x-www-form-urlencoded',
]) {
  test(`the content type ${type} is refused`, async (t) => {
    await answered(t, { body, headers: { 'content-type': type } }, 415, 41501)
  })
}

test('a body without a content type is refused', async (t) => {
  const [answer] = await sendRaw(service.port, head({ 'Content-Length': json.length }) + json)
  t.match(answer, { status: 415, body: /41501/ })
})

for (const charset of ['latin1', 'iso-8859-1', 'utf-16', 'utf-7', '"UTF-16"', 'nonsense', '""']) {
  test(`the charset ${charset} is refused`, async (t) => {
    const headers = { 'content-type': `application/json; charset=${charset}` }
    await answered(t, { body, headers }, 415)
  })
}

for (const type of [
  ...['application/json;charset=utf-8', 'application/json; charset="UTF-8"', 'APPLICATION/JSON'],
  ...['application/json; charset=utf8', 'application/json;odata=verbose', 'application/json;'],
]) {
  test(`the content type ${type} is accepted`, async (t) => {
    const headers = { 'content-type': type }
    await answered(t, { body: { id: 3n, name: 'accepted' }, headers }, 200)
    await answered(t, { body: { id: '3', name: 'refused' }, headers }, 400, 40002)
  })
}

for (const coding of ['gzip', 'br', 'deflate', 'identity, gzip', 'nonsense']) {
  test(`the content coding ${coding} is refused`, async (t) => {
    const headers = { 'content-encoding': coding }
    await answered(t, { body: gzipSync(json), headers }, 415, 41503)
  })
}

test('the content coding identity is none', async (t) => {
  const headers = { 'content-encoding': 'Identity' }
  await answered(t, { body: { id: 3n, name: 'accepted' }, headers }, 200)
})

test('a missing body is refused', async (t) => {
  await answered(t, {}, 400, 40002)
  await answered(t, { headers: { 'content-length': '0' } }, 400, 40002)
})

test('a body of the largest size is accepted, one byte more is refused', async (t) => {
  const limit = 1024 * 1024
  await answered(t, { body: '{"id": 4, "name": "accepted"}'.padEnd(limit) }, 200)
  await answered(t, { body: json.padEnd(limit + 1) }, 413, 41301)
})

test('a body in chunks that goes over the limit is refused', async (t) => {
  const headers = { 'transfer-encoding': 'chunked' }
  await answered(t, { body: json.padEnd(3 * 1024 * 1024), headers }, 413, 41301)
})

test('headers over the limit are refused', async (t) => {
  await answered(t, { body, headers: { 'x-long': 'x'.repeat(20_000) } }, 431, 43101)
})

test('a path over the limit is refused', async (t) => {
  await answered(t, { path: `/${'x'.repeat(20_000)}` }, 431, 43101)
})

const paths = ['/plant', '//plants', '/plants/1/', '/plants/1/2', '/PLANTS/1', '/PLANTS']
for (const path of [...paths, '/plants%00', '/..', '/health', '/health/livez', '/plants%2F1']) {
  test(`the path ${path} is unknown`, async (t) => {
    await answered(t, { method: 'GET', path }, 404, 40401)
    await answered(t, { path, body: 'not JSON' }, 404, 40401)
  })
}

test('an unknown path may be as long as a path can be', async (t) => {
  await answered(t, { method: 'GET', path: `/${'x'.repeat(10_000)}` }, 404, 40401)
})

const ALLOWED = {
  '/plants': 'GET, HEAD, POST, OPTIONS',
  '/plants/1': 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS',
  '/plants/one': 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS',
}
for (const [path, allow] of Object.entries(ALLOWED)) {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY']) {
    if (allow.includes(method)) continue
    test(`${method} ${path} is not allowed`, async (t) => {
      const answer = await answered(t, { method, path, body: 'not JSON' }, 405, 40501)
      t.equal(answer.headers.allow, allow)
    })
  }
}

test('another method on an open path is not allowed, with or without a token', async (t) => {
  const answer = await answered(t, { path: '/health/live', token: null }, 405, 40501)
  t.equal(answer.headers.allow, 'GET, HEAD, OPTIONS')
})

test('a path that is not percent-encoded UTF-8 is refused', async (t) => {
  for (const path of ['/%zz', '/%', '/plants/%ff', '/%c0%af']) {
    await answered(t, { path, body }, 400, 40003)
  }
})

const post = `POST /plants HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`
const MALFORMED: [what: string, bytes: () => string][] = [
  ['not HTTP', () => 'hello\r\n\r\n'],
  ['TLS', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['an unknown method', () => 'PLANT /plants HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['another version', () => 'POST /plants HTTP/3.9\r\nHost: x\r\n\r\n'],
  ['a header without a colon', () => `${post}nonsense\r\n\r\n`],
  ['a header with a NUL', () => `${post}x: \0\r\n\r\n`],
  ['white space before a colon', () => `${post}Content-Length : 5\r\n\r\n`],
  ['a negative length', () => `${post}Content-Length: -1\r\n\r\n`],
  ['two lengths', () => `${post}Content-Length: 5\r\nContent-Length: 6\r\n\r\n`],
  ['a length and chunks', () => `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`],
  ['an unknown transfer coding', () => `${post}${authorization()}Transfer-Encoding: gzip\r\n\r\n`],
  ['a bad chunk', () => `${head({ 'Transfer-Encoding': 'chunked' })}xyz\r\n`],
  ['a truncated body', () => `${post}Content-Length: 50\r\n${authorization()}\r\n${json}`],
  ['two Host headers', () => head({ host: 'y', 'Content-Length': json.length }) + json],
  ['two Authorization headers', () => head({ authorization: 'Bearer x' })],
  ['no Host header', () => `POST /plants HTTP/1.1\r\n${authorization()}\r\n`],
  ['PRI without a version', () => 'PRI /plants\r\n\r\n'],
  ['a method of RTSP', () => 'PLAY /plants RTSP/1.0\r\nHost: x\r\n\r\n'],
  ['CONNECT', () => 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n'],
]
for (const [what, bytes] of MALFORMED) {
  test(`malformed HTTP is refused: ${what}`, async (t) => {
    const answers = await sendRaw(service.port, bytes())
    t.equal(answers.length, 1)
    t.match(answers[0], { status: 400, body: /"error":40003/ })
  })
}

test('an answer under way is not mixed up with what is malformed behind it', async (t) => {
  const good = '{"id": 1, "name": "alive"}'
  const bytes = `${head({ 'Content-Type': 'application/json', 'Content-Length': good.length })}${good}`
  const answers = await sendRaw(service.port, `${bytes}nonsense\r\n\r\n`, false)
  t.same(
    answers.map(({ status }) => status),
    [200, 400],
  )
})

test('what is malformed is refused once, however many parts it comes in', async (t) => {
  const gate = Promise.withResolvers<'created'>()
  const { app, port, token } = await startService(t, { instead: { create: () => gate.promise } })
  const warnings: Error[] = []
  const note = (warning: Error) => warnings.push(warning)
  process.on('warning', note)
  t.teardown(() => process.off('warning', note))
  const socket = connect(port, '127.0.0.1')
  const bytes = readAll(socket)
  socket.write(
    `${post}Authorization: Bearer ${token}\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
  )
  // More than may listen to one event without a warning.
  for (let part = 0; part < 12; part++) {
    socket.write('nonsense\r\n\r\n')
    await once(app.server, 'clientError')
  }
  gate.resolve('created')
  t.same(
    answersOf(await bytes).map(({ status }) => status),
    [200, 400],
  )
  t.same(warnings, [])
})

test('a body that is cut off after its answer is not answered again', async (t) => {
  const socket = connect(service.port, '127.0.0.1')
  const bytes = readAll(socket)
  socket.write(`${head({ 'Content-Length': 50 })}${json}`)
  await once(socket, 'data')
  socket.end()
  t.same(
    answersOf(await bytes).map(({ status }) => status),
    [415],
  )
})

test('a connection is of use after a refused body', async (t) => {
  const create = (text: string, connection: string) =>
    head({
      'Content-Type': 'application/json',
      'Content-Length': text.length,
      Connection: connection,
    }) + text
  const bytes = create('{', 'keep-alive') + create('{"id": 1, "name": "alive"}', 'close')
  const answers = await sendRaw(service.port, bytes, false)
  t.same(
    answers.map(({ status }) => status),
    [400, 200],
  )
})

test('HTTP/1.0 without a Host header is served', async (t) => {
  const [answer] = await sendRaw(service.port, 'GET /health/live HTTP/1.0\r\n\r\n')
  t.equal(answer?.status, 200)
})

test('a target in absolute form is served (RFC 9112 §3.2.2)', async (t) => {
  const bytes =
    'GET http://example.org/health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
  const [answer] = await sendRaw(service.port, bytes)
  t.equal(answer?.status, 200)
})

function authorization(): string {
  return `Authorization: Bearer ${service.token}\r\n`
}

/** The head of a create with a token. */
function head(headers: Record<string, string | number>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST /plants HTTP/1.1\r\nHost: x\r\n${authorization()}${lines.join('')}\r\n`
}

async function answered(t: Test, call: Call, status: number, error?: number) {
  const answer = await service.call(call)
  t.equal(answer.status, status, answer.body)
  if (error !== undefined) t.match(answer.json, { error })
  return answer
}

/** Requests that are not well-formed HTTP, and the connections they arrive on. */

import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { onChange } from '../../helpers/plants/single-changes.ts'
import { assertIntact } from '../../helpers/processes/rejection.ts'
import {
  answersOf,
  readAll,
  type Service,
  sendRaw,
  startService,
} from '../../helpers/service/service.ts'

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

const json = '{"id": 2, "name": "rejected"}'
const post = `POST /plants HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`
const METHOD = 'the request does not start with a known HTTP method; methods are case-sensitive'
const VERSION = 'the request line must end with HTTP/1.1 or HTTP/1.0, and CR LF'
const PRI = 'PRI is only for the start of HTTP/2, which is not supported'

/** Bytes, and the message that names what is wrong with them. */
const MALFORMED: [bytes: string | (() => string), message?: string][] = [
  ['hello\r\n\r\n'],
  ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  [`${post}nonsense\r\n\r\n`],
  [`${post}x: \0\r\n\r\n`],
  [`${post}Content-Length : 5\r\n\r\n`],
  [`${post}Content-Length: -1\r\n\r\n`],
  [`${post}Content-Length: 5\r\nContent-Length: 6\r\n\r\n`],
  [`${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`],
  [() => `${post}${authorization()}Transfer-Encoding: gzip\r\n\r\n`],
  [() => `${head({ 'Transfer-Encoding': 'chunked' })}xyz\r\n`],
  [() => `${post}Content-Length: 50\r\n${authorization()}\r\n${json}`],
  [() => `POST /plants HTTP/1.1\r\n${authorization()}\r\n`],
  ['PRI /plants\r\n\r\n'],
  ...(
    [
      ['BREW /plants HTTP/1.1', METHOD],
      ['get /plants HTTP/1.1', METHOD],
      ['GET /plants HTTP/1.2', VERSION],
      ['GET /plants HTTP/1.11', VERSION],
      ['GET /plants HTTP/3.9', VERSION],
      ['GET /plants HTTP/1.1\nX: y', VERSION],
      ['GET /plants HTTP/1.1\r\nX: y\nY: z', 'lines must end with CR LF, not with LF alone'],
      ['PRI /plants HTTP/1.1', PRI],
      ['PRI * HTTP/1.1', PRI],
      ['PRI * HTTP/2.0', PRI],
      ['PLAY /plants RTSP/1.0', 'PLAY is not a method of HTTP/1.1'],
      ['GET /plants http/1.1', 'the request is not well-formed HTTP/1.1'],
    ] as const
  ).map(([line, message]): (typeof MALFORMED)[number] => [`${line}\r\nHost: x\r\n\r\n`, message]),
]
for (const [bytes, message] of MALFORMED) {
  const what = String(bytes).replaceAll(post, '').slice(0, 60)
  test(`malformed HTTP is rejected: ${JSON.stringify(what)}`, async (t) => {
    const answers = await sendRaw(service.port, typeof bytes === 'string' ? bytes : bytes())
    const body = message === undefined ? /"error":40003/ : JSON.stringify({ error: 40003, message })
    t.match(answers, [{ status: 400, body }])
    t.equal(answers.length, 1)
  })
}

for (const [what, bytes] of [
  ['HTTP/2.0', () => `GET /plants HTTP/2.0\r\n${authorization()}Host: x\r\n\r\n`],
  ['HTTP/0.9', () => 'GET /health/live\r\n\r\n'],
  ['HTTP/2 without TLS', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
] as const) {
  test(`RFC 9110 §15.6.6: ${what} gets 505`, async (t) => {
    const [answer] = await sendRaw(service.port, bytes())
    t.match(answer, { status: 505, body: /"error":50501/ })
  })
}

test('a head with too many short fields gets a message that covers it', async (t) => {
  const fields = 'a: b\r\n'.repeat(1100)
  const [answer] = await sendRaw(service.port, `${post}${fields}\r\n`)
  t.match(answer, { status: 431, body: /must not exceed 16384 bytes or 100 header fields/ })
})

test('a malformed request is rejected after the response to the request before it', async (t) => {
  const good = '{"id": 1, "name": "alive"}'
  const bytes = `${head({ 'Content-Type': 'application/json', 'Content-Length': good.length })}${good}`
  const answers = await sendRaw(service.port, `${bytes}nonsense\r\n\r\n`, false)
  t.same(
    answers.map(({ status }) => status),
    [200, 400],
  )
})

test('a malformed request is rejected once, even if it arrives in parts', async (t) => {
  const gate = Promise.withResolvers<'created'>()
  const { app, port, token } = await startService(t, {
    instead: { change: onChange('create', () => gate.promise) },
  })
  const warnings: Error[] = []
  const record = (warning: Error) => warnings.push(warning)
  process.on('warning', record)
  t.teardown(() => process.off('warning', record))
  const socket = connect(port, '127.0.0.1')
  const bytes = readAll(socket)
  socket.write(
    `${post}Authorization: Bearer ${token}\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
  )
  // More listeners than an event can have without a warning.
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

test('a body cut off after its response gets no second response', async (t) => {
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

test('HTTP/1.0 without a Host header is served', async (t) => {
  const [answer] = await sendRaw(service.port, 'GET /health/live HTTP/1.0\r\n\r\n')
  t.equal(answer?.status, 200)
})

for (const [count, status] of [
  [100, 412],
  // Those from which Node 24 drops some.
  [101, 431],
  [102, 431],
  [985, 431],
  [2001, 431],
] as const) {
  test(`a request with ${count} header fields gets ${status}, and none is dropped`, async (t) => {
    await importPlants(service.store, [{ id: 9n, name: 'Abies' }], 'replace')
    const fields = `${'a:\r\n'.repeat(count - 3)}If-Match: "other"\r\n`
    const bytes = `DELETE /plants/9 HTTP/1.1\r\nHost: x\r\n${authorization()}${fields}\r\n`
    t.match(await sendRaw(service.port, bytes), [{ status }])
    t.ok(await service.store.get(9n))
  })
}

function authorization(): string {
  return `Authorization: Bearer ${service.token}\r\n`
}

/** The head of a create with a token. */
function head(headers: Record<string, string | number>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST /plants HTTP/1.1\r\nHost: x\r\n${authorization()}${lines.join('')}\r\n`
}

/** `Expect: 100-continue` (RFC 9110 §10.1.1): 100 is sent only if the body is wanted. */
import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { answersOf, readAll, type Service, startService } from '../../helpers/service/service.ts'

const BODY_LIMIT = 100

let service: Service
t.before(async () => {
  service = await startService(t, { config: { bodyLimit: BODY_LIMIT } })
})

const body = '{"id": 3, "name": "Acer"}'
const TYPE = { 'Content-Type': 'application/json' }
const LENGTH = { 'Content-Length': body.length }

interface Head {
  line?: string
  version?: string
  expect?: string
  headers: Record<string, string | number>
}

/** Sends the head of a create that expects 100, and returns the connection. */
function create(
  t: Test,
  { line = 'POST /plants', version = '1.1', expect = '100-continue', headers }: Head,
) {
  const all = { Host: 'x', Authorization: `Bearer ${service.token}`, Expect: expect, ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const socket = connect(service.port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.write(`${line} HTTP/${version}\r\n${lines.join('')}\r\n`)
  return socket
}

for (const [what, expect] of [
  ['once', '100-continue'],
  ['in capitals', '100-Continue'],
  ['with others', 'x, 100-continue'],
] as const) {
  t.test(`100 is sent: ${what}`, async (t) => {
    const socket = create(t, { expect, headers: { ...TYPE, ...LENGTH } })
    const [word] = await once(socket, 'data')
    t.equal(word.toString(), 'HTTP/1.1 100 Continue\r\n\r\n')
    socket.write(body)
    const [answer] = await once(socket, 'data')
    t.equal(answersOf(answer)[0]?.status, 200)
  })
}

t.test('100 is sent if the path and If-Match are valid', async (t) => {
  await service.call({ body: { id: 4n, name: 'Abies' } })
  const headers = { ...TYPE, ...LENGTH, 'If-Match': '*' }
  const socket = create(t, { line: 'PUT /plants/4', headers })
  const [word] = await once(socket, 'data')
  t.equal(word.toString(), 'HTTP/1.1 100 Continue\r\n\r\n')
  socket.write('{"id": 4, "name": "Acer"} ')
  const [answer] = await once(socket, 'data')
  t.match(answersOf(answer), [{ status: 200, body: '{"id":4,"name":"Acer"}' }])
})

t.test('100 is sent for a chunked body', async (t) => {
  const socket = create(t, { headers: { ...TYPE, 'Transfer-Encoding': 'chunked' } })
  const [word] = await once(socket, 'data')
  t.equal(word.toString(), 'HTTP/1.1 100 Continue\r\n\r\n')
})

const REJECTED: [what: string, status: number, head: Head][] = [
  ['a body over the limit', 413, { headers: { ...TYPE, 'Content-Length': BODY_LIMIT + 1 } }],
  ['a body far over the limit', 413, { headers: { ...TYPE, 'Content-Length': '9'.repeat(18) } }],
  ['a wrong content type', 415, { headers: { 'Content-Type': 'text/plain', ...LENGTH } }],
  ['no content type', 415, { headers: LENGTH }],
  ['a content coding', 415, { headers: { ...TYPE, ...LENGTH, 'Content-Encoding': 'gzip' } }],
  ['a wrong token', 401, { headers: { ...TYPE, ...LENGTH, Authorization: 'Bearer x' } }],
  ['an invalid Host', 400, { headers: { ...TYPE, ...LENGTH, Host: 'a b' } }],
  ['an unknown path', 404, { line: 'POST /plant', headers: { ...TYPE, ...LENGTH } }],
  ['an invalid id', 400, { line: 'PUT /plants/four', headers: { ...TYPE, ...LENGTH } }],
  [
    'an invalid If-Match',
    400,
    { line: 'PUT /plants/4', headers: { ...TYPE, ...LENGTH, 'If-Match': 'x' } },
  ],
  ['a precondition', 400, { headers: { ...TYPE, ...LENGTH, 'If-None-Match': '*' } }],
]
for (const [what, status, head] of REJECTED) {
  t.test(`${what} gets ${status} without 100, and the connection is closed`, async (t) => {
    const bytes = await readAll(create(t, head))
    t.ok(bytes.toString().startsWith(`HTTP/1.1 ${status} `), bytes.toString())
    // The client may or may not send the body, so what follows is ambiguous (RFC 9112 §9.3).
    t.match(answersOf(bytes), [{ status, headers: { connection: 'close' } }])
  })
}

t.test('100 is not sent for a request without a body', async (t) => {
  for (const length of [{}, { 'Content-Length': 0 }]) {
    const socket = create(t, { headers: { ...length, Connection: 'close' } })
    t.match((await readAll(socket)).toString(), /^HTTP\/1.1 400 /)
  }
})

t.test('100 is never sent to HTTP/1.0 clients', async (t) => {
  const socket = create(t, { version: '1.0', headers: { ...TYPE, ...LENGTH } })
  const bytes = readAll(socket)
  socket.write(body)
  t.match((await bytes).toString(), /^HTTP\/1.1 200 /)
})

t.test(
  'a body over the limit gets 413 before any of it arrives, with or without Expect',
  async (t) => {
    const headers = { ...TYPE, 'Content-Length': BODY_LIMIT + 1 }
    const [answer] = await once(create(t, { expect: 'nonsense', headers }), 'data')
    t.match(answersOf(answer), [{ status: 413, body: /41301/ }])
  },
)

t.test('an unknown expectation is ignored', async (t) => {
  const socket = create(t, { expect: 'nonsense', headers: { ...TYPE, ...LENGTH } })
  socket.write(body)
  const [answer] = await once(socket, 'data')
  t.match(answersOf(answer), [{ status: 200 }])
})

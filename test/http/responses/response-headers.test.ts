/** Headers that every response has. */
import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { answersOf, type Call, readAll, type Service, startService } from '../../helpers/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
  await service.call({ body: { id: 4n, name: 'Abies alba Mill.' } })
})

const NO_STORE = 'no-store'
const NO_CACHE = 'no-cache'

const CALLS: [what: string, cacheControl: string, call: Call][] = [
  ['a create', NO_STORE, { body: { id: 4n, name: 'Abies alba Mill.' } }],
  ['a conflict', NO_STORE, { body: { id: 4n, name: 'other' } }],
  ['a page', NO_STORE, { method: 'GET', path: '/plants' }],
  ['a plant', NO_CACHE, { method: 'GET', path: '/plants/4' }],
  ['HEAD of a plant', NO_CACHE, { method: 'HEAD', path: '/plants/4' }],
  [
    'an unchanged plant',
    NO_CACHE,
    { method: 'GET', path: '/plants/4', headers: { 'if-none-match': '*' } },
  ],
  ['a change', NO_CACHE, { method: 'PATCH', path: '/plants/4', body: {} }],
  [
    'a replacement',
    NO_CACHE,
    { method: 'PUT', path: '/plants/4', body: { name: 'Abies alba Mill.' } },
  ],
  ['a removal', NO_STORE, { method: 'DELETE', path: '/plants/4' }],
  ['an invalid body', NO_STORE, { body: '{' }],
  ['a missing token', NO_STORE, { token: null }],
  ['an unknown path', NO_STORE, { path: '/nowhere' }],
  ['OPTIONS', NO_STORE, { method: 'OPTIONS' }],
  ['a path that is not UTF-8', NO_STORE, { path: '/plants/%ff' }],
  ['health', NO_STORE, { method: 'GET', path: '/health/live', token: null }],
]

for (const [what, cacheControl, call] of CALLS) {
  t.test(`the response to ${what} has the common headers`, async (t) => {
    const { headers } = await service.call(call)
    t.match(headers, {
      'x-request-id': /^[\w-]{11}-[\da-z]+$/,
      'x-content-type-options': 'nosniff',
      'cache-control': cacheControl,
    })
  })
}

t.test('the response to malformed HTTP has the common headers', async (t) => {
  const socket = connect(service.port, '127.0.0.1')
  const bytes = readAll(socket)
  await once(socket, 'connect')
  socket.end('not HTTP\r\n\r\n')
  const [answer] = answersOf(await bytes)
  t.match(answer, {
    status: 400,
    headers: {
      'x-request-id': /^[\w-]{11}-[\da-z]+$/,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    },
  })
})

t.test('the service generates a unique request id', async (t) => {
  const headers = { 'x-request-id': 'chosen-by-the-client', 'request-id': 'chosen-by-the-client' }
  const ids = new Set<string | undefined>(['chosen-by-the-client'])
  for (let sent = 0; sent < 10; sent++) {
    ids.add((await service.call({ method: 'GET', headers })).headers['x-request-id'])
  }
  t.equal(ids.size, 11)
})

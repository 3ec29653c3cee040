/** Bearer tokens (RFC 6750). Test titles name the sections. */

import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../../service/store/plant-store.ts'
import { TokenStore } from '../../../service/token-store.ts'
import { formatHead, openConnection } from '../../helpers/network/connection.ts'
import {
  answersOf,
  type Call,
  readAll,
  type Service,
  startService,
} from '../../helpers/service/service.ts'
import { ask } from '../../helpers/service/threads.ts'

let service: Service
t.before(async () => {
  service = await startService(t, {
    config: { bodyLimit: 1000, token: 'a-token-of-the-environment' },
  })
})

const ANONYMOUS = 'Bearer realm="plant-store"'
const INVALID = 'Bearer realm="plant-store", error="invalid_token"'
const plant = { id: 1n, name: 'x' }

const WITHOUT_CREDENTIALS: [what: string, call: (token: string) => Call][] = [
  ['no Authorization header', () => ({})],
  ['an empty Authorization header', () => ({ headers: { authorization: '' } })],
  ['another scheme', () => ({ headers: { authorization: 'Basic cGxhbnQ6c3RvcmU=' } })],
  ['the scheme alone', () => ({ headers: { authorization: 'Bearer' } })],
  ['the token without a scheme', (token) => ({ headers: { authorization: token } })],
  ['§2.3: a token in the query', (token) => ({ path: `/plants?access_token=${token}` })],
  ['§2.2: a token in the body', (token) => ({ body: { ...plant, access_token: token } })],
]
for (const [what, call] of WITHOUT_CREDENTIALS) {
  t.test(`§3.1: ${what} gets a challenge without an error`, async (t) => {
    const sent = { body: plant, ...call(service.token), token: null }
    await assertRejected(t, sent, ANONYMOUS, 40101)
  })
}

const WRONG_TOKENS = ['plant_wrong', 'x'.repeat(5000), 'a b', 'é', 'null', "' OR 1=1 --", ',']
for (const token of WRONG_TOKENS) {
  t.test(`§3.1: the unknown token ${token.slice(0, 20)} gets invalid_token`, async (t) => {
    await assertRejected(
      t,
      { token: Buffer.from(token).toString('latin1'), body: plant },
      INVALID,
      40102,
    )
  })
}

t.test('a revoked token is invalid immediately', async (t) => {
  const token = await service.issueToken('revoked', ['write'], 60_000)
  t.equal((await service.call({ token, body: plant })).status, 200)
  await new TokenStore(service.store).remove('revoked')
  await assertRejected(t, { token, body: plant }, INVALID, 40102)
})

t.test('a token that is expired, truncated or extended is invalid', async (t) => {
  const expired = await service.issueToken('expired', ['write'], -1)
  const { token } = service
  for (const wrong of [expired, token.slice(0, -1), `${token}x`, token.slice(1)]) {
    await assertRejected(t, { token: wrong, body: plant }, INVALID, 40102)
  }
})

for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) {
  t.test(`RFC 9110 §11.1: the scheme ${scheme} is accepted`, async (t) => {
    const headers = { authorization: `${scheme} ${service.token}` }
    t.equal((await service.call({ token: null, headers, body: plant })).status, 200)
  })
}

t.test('the token from the environment is accepted', async (t) => {
  const answer = await service.call({ token: 'a-token-of-the-environment', body: plant })
  t.equal(answer.status, 200)
})

const OTHER_FAULTS: [what: string, call: Call][] = [
  ['a body that is not JSON', { body: '{' }],
  ['a body that violates the contract', { body: {} }],
  ['a body over the limit', { body: 'x'.repeat(2000) }],
  ['another media type', { body: 'x', headers: { 'content-type': 'text/plain' } }],
  ['a content coding', { body: 'x', headers: { 'content-encoding': 'gzip' } }],
  ['an unknown path', { path: '/nowhere', body: plant }],
  ['a path that is not percent-encoded', { path: '/%zz', body: plant }],
  ['an unknown method', { method: 'DELETE' }],
  ['OPTIONS', { method: 'OPTIONS' }],
  ['an unknown query parameter', { method: 'GET', path: '/plants?nonsense=1' }],
  ['an invalid id', { method: 'GET', path: '/plants/one' }],
  ['the id of a missing plant', { method: 'DELETE', path: '/plants/404' }],
  ['a malformed precondition', { method: 'DELETE', headers: { 'if-match': 'nonsense' } }],
  ['a patch that violates the contract', { method: 'PATCH', path: '/plants/1', body: [] }],
  ['a replacement that violates the contract', { method: 'PUT', path: '/plants/1', body: {} }],
]
for (const [what, call] of OTHER_FAULTS) {
  t.test(`authentication comes before ${what}`, async (t) => {
    await assertRejected(t, { ...call, token: null }, ANONYMOUS, 40101)
    await assertRejected(t, { ...call, token: 'wrong' }, INVALID, 40102)
  })
}

t.test('the scopes of a token are checked for each request of a connection', async (t) => {
  const token = await service.issueToken('scoped', ['read'], 60_000)
  const socket = openConnection(t, service)
  for (const [line, status] of [
    ['GET /plants', 200],
    ['DELETE /plants/1', 403],
    ['GET /plants', 200],
  ] as const) {
    t.equal((await ask(socket, formatHead({ token }, line))).status, status)
  }
})

t.test('a request without a token is rejected before its body arrives', async (t) => {
  const socket = connect(service.port, '127.0.0.1')
  socket.write('POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n')
  const [bytes] = await once(socket, 'data')
  t.equal(answersOf(bytes)[0]?.status, 401)
  socket.destroy()
})

t.test('a connection stays usable after a rejected request', async (t) => {
  const authorized = `Authorization: Bearer ${service.token}`
  const body = '{"id": 1, "name": "x"}'
  const socket = connect(service.port, '127.0.0.1')
  socket.end(
    `POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}` +
      'POST /plants HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n' +
      `${authorized}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  const answers = answersOf(await readAll(socket))
  t.same(
    answers.map(({ status }) => status),
    [401, 200],
  )
})

t.test('a store that fails to look up a token causes 503, also without a limit', async (t) => {
  const failing = await startService(t, {
    config: { authFailureLimit: 'off' },
    instead: { findRecord: () => Promise.reject(new StoreUnavailable('failing', 'SQLITE_IOERR')) },
  })
  t.match(await failing.call({ body: plant }), { status: 503, json: { error: 50302 } })
})

async function assertRejected(t: Test, call: Call, challenge: string, error: number) {
  const answer = await service.call(call)
  t.equal(answer.status, 401)
  t.equal(answer.headers['www-authenticate'], challenge)
  t.match(answer.json, { error })
}

/** Bearer tokens as RFC 6750 has them; the clauses are quoted in the names. */
import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../service/plant-store.ts'
import { answersOf, type Call, readAll, type Service, startService } from '../helpers/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t, {
    config: { bodyLimit: 1000, token: 'a-token-of-the-environment' },
  })
})

const ANONYMOUS = 'Bearer realm="plant-store"'
const INVALID = 'Bearer realm="plant-store", error="invalid_token"'
const plant = { id: 1n, name: 'x' }

const WITHOUT_CREDENTIALS: [what: string, headers: Record<string, string>][] = [
  ['no Authorization header', {}],
  ['an empty Authorization header', { authorization: '' }],
  ['another scheme', { authorization: 'Basic cGxhbnQ6c3RvcmU=' }],
  ['the scheme alone', { authorization: 'Bearer' }],
  ['the token without a scheme', { authorization: 'plant_abcdefghijklmnop' }],
]
for (const [what, headers] of WITHOUT_CREDENTIALS) {
  t.test(`§3.1: ${what} is answered with a challenge without error`, async (t) => {
    await refused(t, { headers, token: null, body: plant }, ANONYMOUS, 40101)
  })
}

const WRONG_TOKENS = ['plant_wrong', 'x'.repeat(5000), 'a b', 'é', 'null', "' OR 1=1 --", ',']
for (const token of WRONG_TOKENS) {
  t.test(
    `§3.1: the wrong token ${token.slice(0, 20)} is answered with invalid_token`,
    async (t) => {
      await refused(
        t,
        { token: Buffer.from(token).toString('latin1'), body: plant },
        INVALID,
        40102,
      )
    },
  )
}

t.test('an expired token is invalid', async (t) => {
  const token = await service.issueToken('expired', ['write'], -1)
  await refused(t, { token, body: plant }, INVALID, 40102)
})

t.test('a revoked token is invalid at once', async (t) => {
  const token = await service.issueToken('revoked', ['write'], 60_000)
  t.equal((await service.call({ token, body: plant })).status, 200)
  await service.store.removeToken('revoked')
  await refused(t, { token, body: plant }, INVALID, 40102)
})

t.test('a part of a token, or more than it, is no token', async (t) => {
  for (const token of [service.token.slice(0, -1), `${service.token}x`, service.token.slice(1)]) {
    await refused(t, { token, body: plant }, INVALID, 40102)
  }
})

t.test('§2.3: a token in the query is not one', async (t) => {
  const path = `/plants?access_token=${service.token}`
  await refused(t, { path, token: null, body: plant }, ANONYMOUS, 40101)
})

t.test('§2.2: a token in the body is not one', async (t) => {
  const body = { ...plant, access_token: service.token }
  await refused(t, { token: null, body }, ANONYMOUS, 40101)
})

for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) {
  t.test(`RFC 9110 §11.1: the scheme is accepted as ${scheme}`, async (t) => {
    const headers = { authorization: `${scheme} ${service.token}` }
    t.equal((await service.call({ token: null, headers, body: plant })).status, 200)
  })
}

t.test('the token of the environment is accepted', async (t) => {
  const answer = await service.call({ token: 'a-token-of-the-environment', body: plant })
  t.equal(answer.status, 200)
})

t.test('§3.1: a token without the scope is answered with insufficient_scope', async (t) => {
  const token = await service.issueToken('reader', ['read'])
  const answer = await service.call({ token, body: { id: 2n, name: 'refused' } })
  t.equal(answer.status, 403)
  t.equal(
    answer.headers['www-authenticate'],
    'Bearer realm="plant-store", error="insufficient_scope", scope="write"',
  )
  t.match(answer.json, { error: 40301, message: /write scope/ })
  t.equal(await service.stored(2n), undefined)
})

const ALSO_WRONG: [what: string, call: Call][] = [
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
  ['an id that is none', { method: 'GET', path: '/plants/one' }],
  ['an id that there is not', { method: 'DELETE', path: '/plants/404' }],
  ['a precondition that is none', { method: 'DELETE', headers: { 'if-match': 'nonsense' } }],
  ['a patch that violates the contract', { method: 'PATCH', path: '/plants/1', body: [] }],
  ['a plant that does', { method: 'PUT', path: '/plants/1', body: {} }],
]
for (const [what, call] of ALSO_WRONG) {
  t.test(`without a token, ${what} is not what is answered`, async (t) => {
    await refused(t, { ...call, token: null }, ANONYMOUS, 40101)
    await refused(t, { ...call, token: 'wrong' }, INVALID, 40102)
  })
}

t.test('a request without a token is answered before its body has come', async (t) => {
  const socket = connect(service.port, '127.0.0.1')
  socket.write('POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n')
  const [bytes] = await once(socket, 'data')
  t.equal(answersOf(bytes)[0]?.status, 401)
  socket.destroy()
})

t.test('a request without a token is not told to continue', async (t) => {
  const socket = connect(service.port, '127.0.0.1')
  socket.write(
    'POST /plants HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n',
  )
  const [bytes] = await once(socket, 'data')
  t.match(bytes.toString(), /^HTTP\/1.1 401 /)
  socket.destroy()
})

t.test('a connection is of use after a refused request', async (t) => {
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

t.test('a store that cannot look a token up is no reason for 401', async (t) => {
  const failing = await startService(t, {
    instead: { findToken: () => Promise.reject(new StoreUnavailable('failing', 'SQLITE_IOERR')) },
  })
  const answer = await failing.call({ body: plant })
  t.equal(answer.status, 503)
  t.match(answer.json, { error: 50302 })
})

async function refused(t: Test, call: Call, challenge: string, error: number) {
  const answer = await service.call(call)
  t.equal(answer.status, 401)
  t.equal(answer.headers['www-authenticate'], challenge)
  t.match(answer.json, { error })
}

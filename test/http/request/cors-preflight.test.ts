/** CORS preflights (https://fetch.spec.whatwg.org/#cors-preflight-fetch). */
import { once } from 'node:events'
import t, { type Test } from 'tap'
import type { Config } from '../../../src/config/config.ts'
import { formatHead, openConnection } from '../../helpers/connection.ts'
import { operations } from '../../helpers/contract-check.ts'
import {
  APP,
  corsHeaders,
  formatHeaders,
  members,
  PREFLIGHT,
  STRANGER,
} from '../../helpers/cors.ts'
import {
  answersOf,
  type Service,
  type StartOptions,
  sendRaw,
  startService,
} from '../../helpers/service.ts'

const start = (t: Test, config: Partial<Config> = {}, options: StartOptions = {}) =>
  startService(t, { ...options, config: { corsOrigin: [APP], ...config } })

let service: Service
t.before(async () => {
  service = await start(t)
})

/** Sends a preflight, which never has a token. */
const preflight = (path: string, headers: Record<string, string> = {}, target = service) =>
  target.call({ method: 'OPTIONS', path, token: null, headers: { ...PREFLIGHT, ...headers } })

const PATHS = ['/plants', '/plants/4', '/plants/batch', '/plants?limit=x', '/nowhere']
for (const path of [...PATHS, '/plants/%ff', '/health/live', '/documentation', '*']) {
  t.test(`a preflight of ${path} needs no token, and is cached for two hours`, async (t) => {
    const answer = await preflight(path)
    t.match(answer, { status: 204, body: '' })
    const { 'access-control-expose-headers': _, ...headers } = corsHeaders(answer)
    t.same(headers, {
      'access-control-allow-origin': APP,
      'access-control-allow-methods': 'GET, HEAD, POST, PATCH, PUT, DELETE',
      'access-control-allow-headers':
        'Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID, traceparent, tracestate, baggage',
      'access-control-max-age': '7200',
    })
    t.equal(answer.headers.vary, 'Origin')
  })

  t.test(`a preflight of ${path} from another origin gets no permission`, async (t) => {
    const answer = await preflight(path, { origin: STRANGER })
    t.equal(answer.status, 204)
    t.same(corsHeaders(answer), {})
    t.equal(answer.headers.vary, 'Origin')
  })
}

t.test('preflights allow every method and header of the contract', async (t) => {
  const { headers } = await preflight('/plants')
  for (const operation of operations()) {
    const { parameters = [] } = operation as { parameters?: { name: string; in: string }[] }
    for (const { name } of parameters.filter((each) => each.in === 'header')) {
      t.ok(members(headers['access-control-allow-headers']).includes(name.toLowerCase()), name)
    }
  }
  const { allow } = (await service.call({ method: 'OPTIONS', path: '*' })).headers
  const methods = members(allow).filter((name) => name !== 'options')
  t.same(members(headers['access-control-allow-methods']).sort(), methods.sort())
})

t.test('a preflight is logged, and does not count as a failed authentication', async (t) => {
  const line = Promise.withResolvers<string>()
  const write = (text: string) => void (text.includes('response sent') && line.resolve(text))
  const authFailureLimit = { requests: 1, window: 86_400_000 }
  const config = { authFailureLimit, logRequests: 'all' } as const
  const target = await start(t, config, { logger: { stream: { write } } })
  for (let sent = 0; sent < 20; sent++) {
    t.equal((await preflight('/plants', {}, target)).status, 204)
    t.equal((await preflight('/plants', { origin: STRANGER }, target)).status, 204)
  }
  t.equal((await target.call({ method: 'GET', token: null })).status, 401)
  t.match(JSON.parse(await line.promise), { method: 'OPTIONS', path: '/plants', status: 204 })
})

t.test('a preflight is answered before its body arrives', async (t) => {
  const socket = openConnection(t, service)
  const body = `Content-Type: application/json\r\nContent-Length: 1000000000\r\nExpect: 100-continue\r\n`
  socket.write(formatHead(service, 'OPTIONS /plants', body + formatHeaders(PREFLIGHT)))
  const [bytes] = await once(socket, 'data')
  t.match(answersOf(bytes), [{ status: 204, headers: { 'access-control-allow-origin': APP } }])
})

t.test('a preflight with an invalid Host gets 400 (RFC 9112 §3.2)', async (t) => {
  for (const target of ['/plants', '/plants/%ff']) {
    for (const host of ['', 'Host: a b\r\n', 'Host: x\r\nHost: y\r\n']) {
      const head = `OPTIONS ${target} HTTP/1.1\r\n${host}${formatHeaders(PREFLIGHT)}\r\n`
      const [answer] = await sendRaw(service.port, head)
      t.match(answer, { status: 400, headers: { 'access-control-allow-origin': APP } })
    }
  }
})

t.test('with *, preflights from every origin get permission', async (t) => {
  const target = await start(t, { corsOrigin: '*' })
  t.match(await preflight('/plants', { origin: STRANGER }, target), {
    status: 204,
    headers: { 'access-control-allow-origin': '*', 'access-control-max-age': '7200' },
  })
})

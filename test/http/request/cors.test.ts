/** CORS, and its preflights (https://fetch.spec.whatwg.org/#http-cors-protocol). */
import { once } from 'node:events'
import t from 'tap'
import { formatHead, openConnection } from '../../helpers/network/connection.ts'
import {
  APP,
  corsHeaders,
  formatHeaders,
  members,
  PREFLIGHT,
  STRANGER,
} from '../../helpers/network/cors.ts'
import {
  contract,
  operations,
  responsesOutsideOperations,
} from '../../helpers/service/contract-check.ts'
import { answersOf, type Service, sendRaw, startService } from '../../helpers/service/service.ts'

const OTHER_APP = 'http://localhost:5173'

let service: Service
/** Without --cors-origin. */
let off: Service
t.before(async () => {
  off = await startService(t)
  service = await startService(t, { config: { corsOrigin: [APP, OTHER_APP] } })
})

/** Sends a preflight, which never has a token. */
const preflight = (path: string, headers: Record<string, string> = {}, target = service) =>
  target.call({ method: 'OPTIONS', path, token: null, headers: { ...PREFLIGHT, ...headers } })

t.test('an origin is allowed only if it is equal to one in the list', async (t) => {
  const read = (origin: string) => service.call({ method: 'GET', headers: { origin } })
  for (const origin of [APP, OTHER_APP]) {
    t.equal((await read(origin)).headers['access-control-allow-origin'], origin)
  }
  const others = ['null', '', '*', `${APP}/`, `${APP}:443`, `${APP}, ${APP}`, 'http://app.example']
  for (const origin of [...others, `${APP}.stranger.example`, APP.toUpperCase()]) {
    t.same(corsHeaders(await read(origin)), {}, origin)
  }
})

t.test('the docs vary by origin and content coding', async (t) => {
  const { headers } = await service.call({ method: 'GET', path: '/documentation', token: null })
  t.equal(headers.vary, 'Origin, Accept-Encoding')
})

t.test('apps can read every header of the contract', async (t) => {
  const { headers } = await service.call({ method: 'GET', headers: { origin: APP } })
  const exposed = members(headers['access-control-expose-headers'])
  for (const name of ['ETag', 'Link', 'Retry-After', 'Allow', 'WWW-Authenticate', 'X-Request-Id']) {
    t.ok(exposed.includes(name.toLowerCase()), name)
  }
  const responses = operations().flatMap((operation) => Object.values(operation.responses))
  for (const response of [...responses, ...Object.values(responsesOutsideOperations())]) {
    for (const name of Object.keys(response.headers ?? {})) {
      t.ok(exposed.includes(name.toLowerCase()), name)
    }
  }
})

t.test('the examples of the CORS headers in the contract are what is sent', async (t) => {
  const preflight = await service.call({ method: 'OPTIONS', headers: PREFLIGHT })
  const read = await service.call({ method: 'GET', headers: { origin: APP } })
  const sent = { ...corsHeaders(preflight), ...corsHeaders(read) }
  const { headers } = contract['x-responses-to-preflights']['204'] ?? {}
  const documented = Object.entries({ ...headers, ...contract['x-cors-headers'] })
    .map(([name, header]) => [name.toLowerCase(), header] as const)
    .filter(([name]) => name.startsWith('access-control-'))
    .map(([name, { schema }]) => [name, String(schema.examples?.[0])])
  t.same(sent, Object.fromEntries(documented))
})

t.test('OPTIONS that is no preflight behaves as without CORS', async (t) => {
  for (const path of ['/plants', '/plants/4', '/nowhere', '*', '/health/live']) {
    for (const headers of [{ origin: APP }, { 'access-control-request-method': 'POST' }, {}]) {
      for (const withToken of [true, false]) {
        const send = (target: Service) =>
          target.call({
            method: 'OPTIONS',
            path,
            headers,
            ...(withToken ? {} : { token: null }),
          })
        const [on, before] = await Promise.all([send(service), send(off)])
        t.equal(on.status, before.status)
        t.equal(on.body, before.body)
        t.equal(on.headers.allow, before.headers.allow)
        t.equal(on.headers['accept-patch'], before.headers['accept-patch'])
        t.equal('access-control-allow-origin' in on.headers, 'origin' in headers)
      }
    }
  }
})

t.test('with *, every origin is allowed', async (t) => {
  const target = await startService(t, { config: { corsOrigin: '*' } })
  for (const headers of [{ origin: STRANGER }, { origin: 'null' }, {}]) {
    const answer = await target.call({ method: 'GET', token: null, headers })
    t.equal(answer.headers['access-control-allow-origin'], '*')
    t.equal(answer.headers.vary, undefined, 'so the response is the same for all of them')
  }
  t.match(await preflight('/plants', { origin: STRANGER }, target), {
    status: 204,
    headers: { 'access-control-allow-origin': '*', 'access-control-max-age': '7200' },
  })
})

t.test('without --cors-origin, no response has a CORS header', async (t) => {
  for (const path of ['/plants', '/nowhere', '/plants/%ff', '/health/live']) {
    for (const method of ['GET', 'OPTIONS']) {
      for (const token of [null, off.token]) {
        const answer = await off.call({ method, path, token, headers: PREFLIGHT })
        t.same(corsHeaders(answer), {})
        t.equal(answer.headers.vary, undefined)
        if (token === null && path !== '/health/live') t.equal(answer.status, 401)
      }
    }
  }
})

const PATHS = ['/plants', '/plants/4', '/plants/batch', '/plants?limit=x', '/nowhere']
for (const path of [...PATHS, '/plants/%ff', '/health/live', '/documentation', '*']) {
  t.test(`a preflight of ${path} needs no token, and is cached for two hours`, async (t) => {
    const answer = await preflight(path)
    t.match(answer, { status: 204, body: '', headers: { vary: 'Origin' } })
    const { 'access-control-expose-headers': _, ...headers } = corsHeaders(answer)
    t.same(headers, {
      'access-control-allow-origin': APP,
      'access-control-allow-methods': 'GET, HEAD, POST, PATCH, PUT, DELETE',
      'access-control-allow-headers':
        'Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID, traceparent, tracestate, baggage',
      'access-control-max-age': '7200',
    })
    const other = await preflight(path, { origin: STRANGER })
    t.match(other, { status: 204, headers: { vary: 'Origin' } })
    t.same(corsHeaders(other), {}, 'another origin gets no permission')
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
  const logger = { stream: { write } }
  const target = await startService(t, { config: { corsOrigin: [APP], ...config }, logger })
  for (let sent = 0; sent < 6; sent++) {
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

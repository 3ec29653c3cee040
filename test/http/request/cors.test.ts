/** CORS (https://fetch.spec.whatwg.org/#http-cors-protocol). */
import t from 'tap'
import { contract, operations, responsesOutsideOperations } from '../../helpers/contract-check.ts'
import { APP, corsHeaders, members, PREFLIGHT, STRANGER } from '../../helpers/cors.ts'
import { type Service, startService } from '../../helpers/service.ts'

const OTHER_APP = 'http://localhost:5173'

let service: Service
/** Without --cors-origin. */
let off: Service
t.before(async () => {
  off = await startService(t)
  service = await startService(t, { config: { corsOrigin: [APP, OTHER_APP] } })
})

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

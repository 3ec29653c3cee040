/** Faults and recorded requests over the admin port. */
import t, { type Test } from 'tap'
import { type PlantStoreOptions, startPlantStore } from '../../src/index.ts'
import { send } from '../helpers/service/service.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

/** Starts a store with an admin port, which is closed when the test ends. */
async function start(t: Test, options: PlantStoreOptions) {
  const store = await startPlantStore({ adminPort: 0, ...options })
  t.teardown(store.close)
  const port = Number(new URL(String(store.adminUrl)).port)
  const admin = (method: string, path: string, body?: string, headers: object = JSON_TYPE) =>
    send(port, { method, path, body, headers: { ...headers } })
  const list = async () => {
    const headers = { authorization: `Bearer ${store.token}` }
    return (await fetch(`${store.url}/plants?id=9007199254740993`, { headers })).status
  }
  return { store, admin, list }
}

let shared: Awaited<ReturnType<typeof start>>
t.before(async () => {
  shared = await start(t, { faults: [] })
})
t.beforeEach(() => {
  shared.store.setFaults([])
  shared.store.clearRequests()
})

t.test('faults are set, read and removed', async (t) => {
  const { store, admin, list } = shared
  t.match(await admin('GET', '/faults'), { status: 200, body: '[]' })
  const faults = '[{"id":9007199254740993,"error":"store-busy","retryAfter":2}]'
  t.match(await admin('PUT', '/faults', faults), { status: 204, body: '' })
  t.match(await admin('GET', '/faults'), {
    body: faults,
    headers: { 'content-type': 'application/json' },
  })
  t.match(await admin('HEAD', '/faults'), { status: 200, body: '' })
  t.equal(await list(), 503)
  t.match(await admin('DELETE', '/faults'), { status: 204, body: '' })
  t.match(await admin('GET', '/faults'), { body: '[]' })
  t.equal(await list(), 200)
  store.setFaults([{ error: 'service-busy' }])
  t.match(await admin('GET', '/faults'), { body: '[{"error":"service-busy"}]' })
})

t.test('requests are read and cleared, with exact ids', async (t) => {
  const { store, admin, list } = shared
  await list()
  const { body } = await admin('GET', '/requests')
  const [{ at }] = JSON.parse(body)
  t.equal(
    body,
    `[{"method":"GET","path":"/plants","at":"${at}","operation":"listPlants","token":"PLANT_STORE_TOKEN","status":200,"ids":[9007199254740993]}]`,
  )
  t.match(store.requests, [{ ids: [9007199254740993n] }])
  t.match(await admin('DELETE', '/requests'), { status: 204 })
  t.match(await admin('GET', '/requests'), { body: '[]' })
  t.same(store.requests, [])
})

t.test('invalid faults are refused with the reason, and the former ones stay', async (t) => {
  const { store, admin } = shared
  store.setFaults([{ error: 'store-busy' }])
  for (const [body, error, message] of [
    ['[', 40001, 'faults are not valid JSON: Unexpected end of JSON input'],
    ['', 40001, 'faults are not valid JSON: Unexpected end of JSON input'],
    ['{}', 40002, 'faults must be array'],
    ['[{"cut":"in-body","nth":0}]', 40002, 'faults/0/nth must be an int32 from 1 to 1000000'],
  ] as const) {
    const answer = await admin('PUT', '/faults', body)
    t.equal(answer.status, 400)
    t.same(JSON.parse(answer.body), { error, message })
  }
  t.match(await admin('GET', '/faults'), { body: '[{"error":"store-busy"}]' })
})

const ROUTES = [
  'GET /faults',
  'PUT /faults',
  'DELETE /faults',
  'GET /requests',
  'DELETE /requests',
  'PUT /store',
  'DELETE /store',
]

t.test('a request of a web page of another origin is refused', async (t) => {
  const { store, admin } = shared
  const adminUrl = String(store.adminUrl)
  const { host } = new URL(adminUrl)
  for (const route of ROUTES) {
    const [method = '', path = ''] = route.split(' ')
    const body = method === 'PUT' ? '[{"cut":"in-body"}]' : undefined
    for (const origin of ['https://example.com', 'null', store.url, `https://${host}`]) {
      const answer = await admin(method, path, body, { ...JSON_TYPE, origin })
      t.equal(answer.status, 403, `${route} from ${origin}`)
      const message = 'requests from web pages of other origins are refused'
      t.same(JSON.parse(answer.body), { error: 40300, message })
    }
  }
  t.match(await admin('GET', '/faults'), { body: '[]' })
  t.equal((await admin('DELETE', '/faults', undefined, { origin: adminUrl })).status, 204)
})

t.test('faults are JSON of a known length, at most 64 KiB', async (t) => {
  const { admin } = shared
  const whole = '[]'.padEnd(2 ** 16)
  const charset = { 'content-type': 'application/json; charset=utf-8' }
  t.equal((await admin('PUT', '/faults', whole, charset)).status, 204)
  const refused: [string | undefined, object, number, string][] = [
    ['[]', {}, 415, 'the Content-Type must be application/json'],
    ['[]', { 'content-type': 'text/plain' }, 415, 'the Content-Type must be application/json'],
    [`${whole} `, JSON_TYPE, 413, 'expected a Content-Length of at most 65536'],
    [
      '[]',
      { ...JSON_TYPE, 'transfer-encoding': 'chunked' },
      413,
      'expected a Content-Length of at most 65536',
    ],
  ]
  for (const [body, headers, status, message] of refused) {
    const answer = await admin('PUT', '/faults', body, headers)
    t.equal(answer.status, status)
    t.equal(JSON.parse(answer.body).message, message)
  }
})

t.test('other methods are not allowed, and other requests have no body', async (t) => {
  const { admin } = shared
  for (const [method, path, allow] of [
    ['POST', '/faults', 'GET, HEAD, PUT, DELETE'],
    ['PUT', '/requests', 'GET, HEAD, DELETE'],
    ['GET', '/store', 'PUT, DELETE'],
    ['POST', '/store', 'PUT, DELETE'],
    ['PUT', '/metrics', 'GET, HEAD'],
  ] as const) {
    t.match(await admin(method, path, '[]'), { status: 405, headers: { allow } })
  }
  const length = { 'content-length': '2' }
  t.equal((await admin('DELETE', '/faults', '[]', length)).status, 413)
  t.equal((await admin('DELETE', '/store', '[]', length)).status, 413)
})

t.test('without the option there are no such routes', async (t) => {
  const { store, admin } = await start(t, {})
  for (const route of ROUTES) {
    const [method = '', path = ''] = route.split(' ')
    const body = method === 'PUT' ? '[]' : undefined
    t.equal((await admin(method, path, body)).status, 404, route)
  }
  t.match(await admin('GET', '/health/ready'), { body: '{"status":"ready"}' })
  t.match(await (await fetch(`${store.url}/health/ready`)).json(), { status: 'ready' })
})

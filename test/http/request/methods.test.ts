/** HEAD and OPTIONS. */
import t from 'tap'
import type { Answer } from '../../helpers/contract-check.ts'
import { type Call, type Service, sendRaw, startService } from '../../helpers/service.ts'

let service: Service
let etag: string | undefined
t.before(async () => {
  service = await startService(t)
  await service.call({ body: { id: 4n, name: 'Abies alba Mill. 🌱', tag: 'Tree' } })
  await service.call({ body: { id: 5n, name: 'Acer' } })
  etag = (await service.call({ method: 'GET', path: '/plants/4' })).headers.etag
})

/** Headers that are the same for equal requests. */
const headersOf = ({ headers: { date: _date, 'x-request-id': _id, ...headers } }: Answer) => headers

const GETS: [status: number, what: string, call: () => Call][] = [
  [200, 'a plant', () => ({ path: '/plants/4' })],
  [200, 'a page', () => ({ path: '/plants' })],
  [200, 'a page with a link', () => ({ path: '/plants?limit=1' })],
  [200, 'an empty page', () => ({ path: '/plants?tag=none' })],
  [304, 'a known plant', () => ({ path: '/plants/4', headers: { 'if-none-match': etag } })],
  [200, 'a changed plant', () => ({ path: '/plants/4', headers: { 'if-none-match': '"x"' } })],
  [400, 'an invalid id', () => ({ path: '/plants/x' })],
  [400, 'an invalid limit', () => ({ path: '/plants?limit=x' })],
  [400, 'a path that is not UTF-8', () => ({ path: '/plants/%ff' })],
  [401, 'a plant without a token', () => ({ path: '/plants/4', token: null })],
  [401, 'a page with a wrong token', () => ({ path: '/plants', token: 'x' })],
  [404, 'a missing plant', () => ({ path: '/plants/404' })],
  [404, 'an unknown path', () => ({ path: '/nowhere' })],
  [200, 'health', () => ({ path: '/health/live', token: null })],
  [200, 'the docs', () => ({ path: '/documentation', token: null })],
]
for (const [status, what, call] of GETS) {
  t.test(`HEAD of ${what} gets ${status}, like GET`, async (t) => {
    const get = await service.call({ ...call(), method: 'GET' })
    const head = await service.call({ ...call(), method: 'HEAD' })
    t.equal(get.status, status)
    t.equal(head.status, status)
    t.same(headersOf(head), headersOf(get))
    t.equal(head.body, '')
  })
}

t.test('the response to HEAD has no body', async (t) => {
  const head = (path: string) =>
    `HEAD ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.token}\r\n`
  const bytes = `${head('/plants/4')}Connection: close\r\n\r\n`
  const [answer] = await sendRaw(service.port, bytes)
  t.match(answer, { status: 200, headers: { etag }, body: '' })
})

const METHODS = [
  ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
  ...['TRACE', 'PROPFIND', 'QUERY'],
]

const OPTIONS: [path: string, open: boolean, allow: string][] = [
  ['/plants', false, 'GET, HEAD, POST, PATCH, OPTIONS'],
  ['/plants?limit=1', false, 'GET, HEAD, POST, PATCH, OPTIONS'],
  ['/plants?nonsense', false, 'GET, HEAD, POST, PATCH, OPTIONS'],
  ['/plants/batch', false, 'POST, OPTIONS'],
  ['/plants/batch?after=1', false, 'POST, OPTIONS'],
  ['/plants/4', false, 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'],
  ['/plants/one', false, 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'],
  ['/plants/404', false, 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'],
  [`/plants/${'1'.repeat(10_000)}`, false, 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'],
  ['/health/live', true, 'GET, HEAD, OPTIONS'],
  ['/health/ready', true, 'GET, HEAD, OPTIONS'],
  ['/documentation', true, 'GET, HEAD, OPTIONS'],
  ['/documentation/json', true, 'GET, HEAD, OPTIONS'],
]
for (const [path, open, allow] of OPTIONS) {
  const target = path.slice(0, 30)
  t.test(`OPTIONS ${target} lists the methods`, async (t) => {
    for (const token of [service.token, ...(open ? [null, 'wrong'] : [])]) {
      const answer = await service.call({ method: 'OPTIONS', path, token })
      t.match(answer, { status: 204, headers: { allow }, body: '' })
    }
  })

  t.test(`${target} has exactly the methods that OPTIONS lists`, async (t) => {
    for (const method of METHODS) {
      if (method === 'OPTIONS') continue
      const call = { method, path: path.replace('/4', '/404'), body: 'not JSON' }
      const answer = await service.call(call)
      t.equal(answer.status !== 405, allow.split(', ').includes(method), method)
      if (answer.status !== 405) continue
      t.equal(answer.headers.allow, allow)
      if (method !== 'HEAD') t.match(answer.json, { error: 40501 })
    }
  })
}

t.test('OPTIONS lists Accept-Patch for paths with PATCH (RFC 5789 §3.1)', async (t) => {
  const types = 'application/merge-patch+json, application/json'
  for (const [path, expected] of [
    ['/plants/4', types],
    ['/plants', 'application/json'],
    ['/plants/batch', undefined],
    ['/health/live', undefined],
  ] as const) {
    const { headers } = await service.call({ method: 'OPTIONS', path })
    t.equal(headers['accept-patch'], expected, path)
  }
})

for (const path of [
  '/plants/',
  '/plants/?x=1',
  '/plants//',
  '/plants//4',
  '//plants',
  '/plants/4/',
]) {
  t.test(`${path} does not exist for any method`, async (t) => {
    const token = await service.issueToken(path, ['read'])
    for (const method of METHODS) {
      const answer = await service.call({ method, path, token, body: 'not JSON' })
      t.equal(answer.status, 404, method)
      const message = `unknown path ${path.replace('?x=1', '')}`
      if (method !== 'HEAD') t.same(answer.json, { error: 40401, message })
      t.equal((await service.call({ method, path, token: null })).status, 401, method)
    }
  })
}

t.test('OPTIONS needs no scope', async (t) => {
  for (const scope of ['read', 'write'] as const) {
    const token = await service.issueToken(`only ${scope}`, [scope])
    t.equal((await service.call({ method: 'OPTIONS', path: '/plants', token })).status, 204)
  }
})

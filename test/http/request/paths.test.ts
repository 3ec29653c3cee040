/** Paths, their methods, HEAD and OPTIONS. */
import t from 'tap'
import { sendHead } from '../../helpers/network/send-head.ts'
import type { Answer } from '../../helpers/service/contract-check.ts'
import { type Call, type Service, sendRaw, startService } from '../../helpers/service/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
  await service.call({ body: { id: 4n, name: 'Abies alba Mill. 🌱', tag: 'Tree' } })
  await service.call({ body: { id: 5n, name: 'Acer' } })
})

/** Headers that are the same for equal requests. */
const headersOf = ({ headers: { date: _date, 'x-request-id': _id, ...headers } }: Answer) => headers

const GETS: [status: number, call: Call & { readonly path: string }][] = [
  [200, { path: '/plants/4' }],
  [200, { path: '/plants' }],
  [200, { path: '/plants?limit=1' }],
  [200, { path: '/plants?tag=none' }],
  [304, { path: '/plants/4', headers: { 'if-none-match': '*' } }],
  [400, { path: '/plants/x' }],
  [400, { path: '/plants/%ff' }],
  [401, { path: '/plants/4', token: null }],
  [404, { path: '/plants/404' }],
  [404, { path: '/nowhere' }],
  [200, { path: '/health/live', token: null }],
  [200, { path: '/documentation', token: null }],
]
t.test('HEAD gets the status and the headers of GET', async (t) => {
  for (const [status, call] of GETS) {
    const get = await service.call({ ...call, method: 'GET' })
    const head = await service.call({ ...call, method: 'HEAD' })
    t.equal(get.status, status, call.path)
    t.same([head.status, headersOf(head)], [status, headersOf(get)], call.path)
  }
})

t.test('the response to HEAD has no body', async (t) => {
  const answer = await sendHead(service, ['HEAD /plants/4 HTTP/1.1', 'Host: x'])
  t.match(answer, { status: 200, body: '' })
})

t.test('an encoded spelling of /plants/batch is the same path', async (t) => {
  const headers = { authorization: `Bearer ${service.token}` }
  t.equal((await fetch(`${service.url}/plants/%62atch`, { headers })).status, 405)
})

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'QUERY']

const PLANTS = 'GET, HEAD, POST, PATCH, OPTIONS'
const PLANT = 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'
const READ = 'GET, HEAD, OPTIONS'
const MERGE_PATCH = 'application/merge-patch+json, application/json'

const PATHS: [path: string, open: boolean, allow: string, acceptPatch?: string][] = [
  ['/plants', false, PLANTS, 'application/json'],
  ['/plants?nonsense', false, PLANTS, 'application/json'],
  ['/plants/batch', false, 'POST, OPTIONS'],
  ['/plants/404', false, PLANT, MERGE_PATCH],
  ['/plants/one', false, PLANT, MERGE_PATCH],
  [`/plants/${'1'.repeat(10_000)}`, false, PLANT, MERGE_PATCH],
  ['/health/live', true, READ],
  ['/health/ready', true, READ],
  ['/documentation', true, READ],
  ['/documentation/json', true, READ],
]
t.test('each path has exactly the methods that OPTIONS lists', async (t) => {
  const reader = await service.issueToken('reader', ['read'])
  for (const [path, open, allow, acceptPatch] of PATHS) {
    for (const token of [service.token, reader, ...(open ? [null, 'wrong'] : [])]) {
      const answer = await service.call({ method: 'OPTIONS', path, token })
      t.match(answer, { status: 204, headers: { allow }, body: '' })
      t.equal(answer.headers['accept-patch'], acceptPatch, 'RFC 5789 §3.1')
    }
    const token = open ? null : service.token
    const allowed: string[] = []
    for (const method of METHODS) {
      const answer = await service.call({ method, path, body: 'not JSON', token })
      if (answer.status !== 405) allowed.push(method)
      else t.match(answer, { headers: { allow }, body: method === 'HEAD' ? '' : /"error":40501/ })
    }
    t.equal([...allowed, 'OPTIONS'].join(', '), allow)
  }
})

const UNKNOWN = [
  ...['/plants/', '/plants/?x=1', '/plants//', '/plants//4', '//plants', '/plants/4/', '/plant'],
  ...['/plants/1/2', '/PLANTS/1', '/PLANTS', '/plants%00', '/..', '/health', '/health/livez'],
  ...['/plants%2F1', `/${'x'.repeat(10_000)}`],
]
t.test('an unknown path does not exist for any method', async (t) => {
  const json = { error: 40401, message: /^unknown path \// }
  for (const path of UNKNOWN) {
    for (const method of ['GET', 'POST', 'QUERY', 'OPTIONS']) {
      const answer = await service.call({ method, path, body: 'not JSON' })
      t.match(answer, { status: 404, json }, `${method} ${path}`)
    }
    t.equal((await service.call({ path, token: null })).status, 401, path)
  }
})

t.test('a path that is not percent-encoded UTF-8 is rejected', async (t) => {
  for (const path of ['/%zz', '/%', '/plants/%ff', '/%c0%af']) {
    t.match(await service.call({ path }), { status: 400, json: { error: 40003 } }, path)
  }
})

const ROUTED: [target: string, path: string][] = [
  ['http://example.org/plants/4', '/plants/4'],
  ['HTTP://EXAMPLE.org:80/plants/4', '/plants/4'],
  ['http://[::1]/plants/4', '/plants/4'],
  ['http://example.org/plants?limit=1', '/plants?limit=1'],
  ['http://example.org', '/'],
  ['http://x/documentation/json', '/documentation/json'],
  ['http://example.org?x=/plants', '/?x=/plants'],
]
t.test('RFC 9112 §3.2.2: a target can be a URL', async (t) => {
  for (const [target, path] of ROUTED) {
    const absolute = await sendHead(service, [`GET ${target} HTTP/1.1`, 'Host: x'])
    const origin = await sendHead(service, [`GET ${path} HTTP/1.1`, 'Host: x'])
    t.ok(absolute)
    t.same([absolute?.status, absolute?.body], [origin?.status, origin?.body], target)
  }
})

t.test('OPTIONS * lists all methods (RFC 9110 §9.3.7), and * is only for OPTIONS', async (t) => {
  const answer = await sendHead(service, ['OPTIONS * HTTP/1.1', 'Host: x'])
  const allow = 'GET, HEAD, POST, PATCH, PUT, DELETE, OPTIONS'
  t.match(answer, { status: 204, headers: { allow } })
  t.notOk(answer && 'accept-patch' in answer.headers)
  const error = { error: 40003, message: 'the request target * is only for OPTIONS' }
  const other = await sendHead(service, ['GET * HTTP/1.1', 'Host: x'])
  t.match(other, { status: 400, body: JSON.stringify(error) })
})

t.test('a target that is neither a path nor an http URL is rejected', async (t) => {
  const error = { error: 40003, message: 'the request target must be a path or an http URL' }
  for (const target of [
    ...['http://a@b/plants', 'http:///plants', 'http://:80/plants', 'http://x:a/plants'],
    'ftp://x/plants',
  ]) {
    const answer = await sendHead(service, [`GET ${target} HTTP/1.1`, 'Host: x'])
    t.match(answer, { status: 400, body: JSON.stringify(error) }, target)
  }
})

t.test('RFC 9110 §7.4: an https URL over plain HTTP gets 421 if the token is valid', async (t) => {
  for (const path of ['', '/plants/4', '/plant', '/%zz']) {
    const lines = [`GET HTTPS://example.org${path} HTTP/1.1`, 'Host: x']
    t.match(await sendHead(service, lines), { status: 421, body: /"error":42101/ })
    const [anonymous] = await sendRaw(service.port, [...lines, '', ''].join('\r\n'))
    t.equal(anonymous?.status, 401)
  }
  const gateway = await startService(t, { config: { trustProxy: '127.0.0.1' } })
  const lines = ['GET https://example.org/plants HTTP/1.1', 'Host: x']
  t.match(await sendHead(gateway, lines), { status: 200 }, 'from a trusted gateway')
})

t.test('a URL needs no token if its path needs none', async (t) => {
  const bytes =
    'GET http://example.org/health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
  const [answer] = await sendRaw(service.port, bytes)
  t.equal(answer?.status, 200)
})

/** Request targets: paths, URLs and `*` (RFC 9112 §3.2). */
import t from 'tap'
import { sendHead } from '../../helpers/send-head.ts'
import { type Service, sendRaw, startService } from '../../helpers/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
  await service.call({ body: { id: 4n, name: 'Abies alba Mill.' } })
})

const HOST = 'Host: x'

const ROUTED: [target: string, path: string][] = [
  ['http://example.org/plants/4', '/plants/4'],
  ['HTTP://EXAMPLE.org:80/plants/4', '/plants/4'],
  ['http://[::1]/plants/4', '/plants/4'],
  ['http://example.org/plants?limit=1', '/plants?limit=1'],
  ['http://example.org', '/'],
  ['http://x/documentation/json', '/documentation/json'],
  ['http://example.org?x=/plants', '/?x=/plants'],
]
for (const [target, path] of ROUTED) {
  t.test(`§3.2.2: the target ${target} is served like ${path}`, async (t) => {
    const [absolute, origin] = [
      await sendHead(service, [`GET ${target} HTTP/1.1`, HOST]),
      await sendHead(service, [`GET ${path} HTTP/1.1`, HOST]),
    ]
    t.ok(absolute)
    t.same([absolute?.status, absolute?.body], [origin?.status, origin?.body])
  })
}

t.test('OPTIONS * lists all methods (RFC 9110 §9.3.7)', async (t) => {
  const answer = await sendHead(service, ['OPTIONS * HTTP/1.1', HOST])
  t.match(answer, {
    status: 204,
    headers: { allow: 'GET, HEAD, POST, PATCH, PUT, DELETE, OPTIONS' },
  })
  t.notOk(answer && 'accept-patch' in answer.headers)
})

t.test('§3.2.4: the target * is only for OPTIONS', async (t) => {
  const error = { error: 40003, message: 'the request target * is only for OPTIONS' }
  const answer = await sendHead(service, ['GET * HTTP/1.1', HOST])
  t.match(answer, { status: 400, body: JSON.stringify(error) })
})

const INVALID_TARGETS = [
  'http://a@b/plants',
  'http:///plants',
  'http://:80/plants',
  'http://x:a/plants',
  'ftp://x/plants',
]
for (const target of INVALID_TARGETS) {
  t.test(`the target ${target} is rejected`, async (t) => {
    const error = { error: 40003, message: 'the request target must be a path or an http URL' }
    const answer = await sendHead(service, [`GET ${target} HTTP/1.1`, HOST])
    t.match(answer, { status: 400, body: JSON.stringify(error) })
  })
}

t.test('RFC 9110 §7.4: an https URL over plain HTTP gets 421 if the token is valid', async (t) => {
  for (const path of ['', '/plants/4', '/plant', '/%zz']) {
    const lines = [`GET HTTPS://example.org${path} HTTP/1.1`, HOST]
    t.match(await sendHead(service, lines), { status: 421, body: /"error":42101/ })
    const [anonymous] = await sendRaw(service.port, [...lines, '', ''].join('\r\n'))
    t.equal(anonymous?.status, 401)
  }
})

t.test('an https URL from a trusted gateway is served', async (t) => {
  const gateway = await startService(t, { config: { trustProxy: '127.0.0.1' } })
  const lines = ['GET https://example.org/plants HTTP/1.1', HOST]
  t.match(await sendHead(gateway, lines), { status: 200 })
})

t.test('a URL needs no token if its path needs none', async (t) => {
  const bytes = `GET http://example.org/health/live HTTP/1.1\r\n${HOST}\r\nConnection: close\r\n\r\n`
  const [answer] = await sendRaw(service.port, bytes)
  t.equal(answer?.status, 200)
})

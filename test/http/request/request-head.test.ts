/** Request lines and headers that Node's parser accepts but RFC 9110 and 9112 do not. */
import type { IncomingMessage } from 'node:http'
import t from 'tap'
import {
  countRepetitions,
  headersError,
  rewriteUrlTarget,
} from '../../../src/http/request/request-head.ts'
import { sendHead } from '../../helpers/network/send-head.ts'
import { type Service, sendRaw, startService } from '../../helpers/service/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
  await service.call({ body: { id: 4n, name: 'Abies alba Mill.' } })
})

const GET = 'GET /plants/4 HTTP/1.1'
const HOST = 'Host: x'
const JSON_TYPE = 'Content-Type: application/json'

const INVALID_HOSTS = [
  ...[
    'a b/c@',
    'a, b',
    'a b',
    'a@b',
    'a/b',
    'a?b',
    'a#b',
    'a\\b',
    '<a>',
    '"a"',
    'ä',
    '%',
    '%4',
    '%zz',
  ],
  ...[
    'x:a',
    'x:80:80',
    '::1',
    '[',
    '[]',
    ']',
    '[::1',
    '[::g]',
    '[1]',
    '[::1]x',
    '[fe80::1%25eth0]',
    '[v.x]',
  ],
]
for (const host of INVALID_HOSTS) {
  t.test(`§3.2: the Host ${JSON.stringify(host)} is rejected`, async (t) => {
    const message = 'the request has an invalid Host header'
    const error = { error: 40003, message }
    const answer = await sendHead(service, [GET, `Host: ${host}`])
    t.match(answer, { status: 400, body: JSON.stringify(error) })
    t.match(await sendHead(service, ['GET /plants/4 HTTP/1.0', `Host: ${host}`]), { status: 400 })
  })
}

const VALID_HOSTS = [
  ...[
    '',
    'x',
    'x:80',
    'x:',
    ':80',
    'EXAMPLE.org.',
    '127.0.0.1:3000',
    'a_b',
    'a,b',
    "!$&'()*+;=~-",
    '%C3%a4',
  ],
  ...['[::1]', '[::1]:80', '[::ffff:127.0.0.1]', '[v1F.a:b]'],
]
for (const host of VALID_HOSTS) {
  t.test(`§3.2: the Host ${JSON.stringify(host)} is accepted`, async (t) => {
    t.match(await sendHead(service, [GET, `Host: ${host}`]), { status: 200 })
  })
}

t.test('an invalid Host is rejected on paths that need no token', async (t) => {
  for (const lines of [['Host: a b'], [HOST, HOST], []]) {
    t.match(await sendHead(service, ['GET /health/live HTTP/1.1', ...lines]), { status: 400 })
  }
})

const CREATE = ['POST /plants HTTP/1.1', HOST]
const body = '{"id":5,"name":"Acer"}'
const LENGTH = `Content-Length: ${body.length}`
const CHUNKS = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
const TWO_CONTENT_TYPES = 'the request has more than one Content-Type header'
const UNSUPPORTED = (coding: string) =>
  `unsupported Transfer-Encoding "${coding}": expected chunked`

const REJECTED: [
  what: string,
  lines: string[],
  content: string,
  status: number,
  error: { error: number; message: string },
][] = [
  ...[JSON_TYPE, 'content-type: text/plain'].map((second): (typeof REJECTED)[number] => [
    `two content types, the second of which is ${second}`,
    [...CREATE, JSON_TYPE, second, LENGTH],
    body,
    400,
    { error: 40003, message: TWO_CONTENT_TYPES },
  ]),
  [
    'PUT with Content-Range (RFC 9110 §14.5)',
    ['PUT /plants/4 HTTP/1.1', HOST, JSON_TYPE, LENGTH, 'Content-Range: bytes 0-21/100'],
    body,
    400,
    { error: 40004, message: 'this operation does not accept Content-Range; send the whole plant' },
  ],
  ...['gzip, chunked', 'GZIP ,\tchunked', 'identity, chunked', 'x;y="a,b", chunked'].map(
    (coding): (typeof REJECTED)[number] => [
      `Transfer-Encoding: ${coding} (RFC 9112 §6.1)`,
      [...CREATE, JSON_TYPE, `Transfer-Encoding: ${coding}`],
      CHUNKS,
      501,
      { error: 50101, message: UNSUPPORTED(coding) },
    ],
  ),
  [
    'transfer codings in two headers',
    [...CREATE, JSON_TYPE, 'Transfer-Encoding: gzip', 'Transfer-Encoding: chunked'],
    CHUNKS,
    501,
    { error: 50101, message: UNSUPPORTED('gzip, chunked') },
  ],
]
for (const [what, lines, content, status, error] of REJECTED) {
  t.test(`${what} is rejected`, async (t) => {
    t.match(await sendHead(service, lines, content), { status, body: JSON.stringify(error) })
    t.equal(await service.stored(5n), undefined)
    t.match(await service.stored(4n), { name: 'Abies alba Mill.' })
  })
}

t.test('Content-Range is ignored where it has no meaning (RFC 9110 §14.4)', async (t) => {
  const call = { method: 'PATCH', path: '/plants/4', body: {} }
  const headers = { 'content-range': 'bytes 0-1/2' }
  t.equal((await service.call({ ...call, headers })).status, 200)
})

t.test('the transfer coding chunked is accepted in any spelling', async (t) => {
  for (const coding of ['chunked', 'Chunked', ', chunked']) {
    const lines = [...CREATE, JSON_TYPE, `Transfer-Encoding: ${coding}`]
    t.match(await sendHead(service, lines, CHUNKS), { status: 200 }, coding)
  }
})

t.test('§6.1: HTTP/1.0 has no transfer codings, and the connection is closed', async (t) => {
  const lines = ['POST /plants HTTP/1.0', HOST, JSON_TYPE, 'Transfer-Encoding: chunked']
  const authorization = `Authorization: Bearer ${service.token}`
  const head = [...lines, authorization, 'Connection: keep-alive', '', ''].join('\r\n')
  const answers = await sendRaw(service.port, `${head}${CHUNKS}`, false)
  const message = 'the request has a Transfer-Encoding header, which HTTP/1.0 does not define'
  const error = JSON.stringify({ error: 40003, message })
  t.match(answers, [{ status: 400, headers: { connection: 'close' }, body: error }])
})

t.test('authentication comes before checks of the head', async (t) => {
  for (const lines of [
    ['GET /plants HTTP/1.1'],
    [GET, 'Host: a b'],
    [GET, HOST, HOST],
    ['GET * HTTP/1.1', HOST],
    ['OPTIONS * HTTP/1.1', HOST],
    ['GET http://a@b/health/live HTTP/1.1', HOST],
    ['GET http:///plants HTTP/1.1', HOST],
    [...CREATE, JSON_TYPE, JSON_TYPE, 'Content-Length: 0'],
    [...CREATE, 'Transfer-Encoding: gzip, chunked'],
  ]) {
    const head = [...lines, 'Connection: close', '', ''].join('\r\n')
    const [answer] = await sendRaw(service.port, head, false)
    t.match(answer, { status: 401, body: /40101/ }, lines.join())
  }
})

t.test('two Authorization headers are rejected first, because they are ambiguous', async (t) => {
  const answer = await sendHead(service, [GET, 'Authorization: Bearer x'])
  const message = 'the request has more than one Authorization header'
  t.match(answer, { status: 400, body: JSON.stringify({ error: 40003, message }) })
})

const REPEATED = [
  'a',
  ':',
  '1',
  '%41',
  '%',
  '[',
  '[::',
  '[v1.a',
  '[v1',
  '1:',
  'a:1',
  ',',
  ' ',
  '\t,',
  'a,',
  '@a',
]

t.test('long input of any kind is checked in linear time', async (t) => {
  for (const part of REPEATED) {
    const text = part.repeat(2 ** 18 / part.length)
    for (const value of [text, `${text} `, `a:${text}`, `[${text}]`, `[v1.${text}`]) {
      for (const host of [value, 'x']) {
        const message = {
          url: `http://${value}`,
          headers: { host, 'transfer-encoding': value },
          rawHeaders: ['Host', host, 'Transfer-Encoding', value],
          httpVersion: '1.1',
        } as unknown as IncomingMessage
        rewriteUrlTarget(message, true)
        headersError(message, countRepetitions(message))
      }
    }
  }
  t.pass('before the test times out')
})

t.test('the target of a request to a proxy is shortened to its path', async (t) => {
  for (const [url, path] of [
    ['http://host/plants?tag=x', '/plants?tag=x'],
    ['http://host', '/'],
    ['http://host?tag=x', '/?tag=x'],
    ['https://host/', 'https://host/'],
    ['ftp://host/', 'ftp://host/'],
  ] as const) {
    const request = { url } as IncomingMessage
    rewriteUrlTarget(request, false)
    t.equal(request.url, path)
  }
})

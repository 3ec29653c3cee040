/**
 * Mutations that leave the framing intact and the method and path known. The response must be one that the contract
 * documents for them.
 */
import { METHODS } from 'node:http'
import { TOKEN } from '../target.ts'
import { hostileBody } from './hostile-bodies.ts'
import type { Random } from './random.ts'
import { headersOf, type Request, removeHeader, setHeader } from './request.ts'

type Mutate = (request: Request, random: Random) => unknown

/** CONNECT ends HTTP on the connection. */
const KNOWN_METHODS = METHODS.filter((method) => method !== 'CONNECT')

const AUTHORIZATIONS = [
  '',
  'Bearer',
  'Bearer ',
  `bearer ${TOKEN}`,
  `Bearer  ${TOKEN}`,
  `Bearer ${TOKEN}x`,
  `Bearer ${TOKEN} ${TOKEN}`,
  `Basic ${TOKEN}`,
  `Bearer\t${TOKEN}`,
  'Bearer \xff\xfe',
  `Bearer ${'x'.repeat(5000)}`,
  TOKEN,
]

const CONTENT_TYPES = [
  '',
  ...'text/plain APPLICATION/JSON application/merge-patch+json application/json; \xe9/\xe9'.split(
    ' ',
  ),
  'application/json; charset=utf-8',
  'application/json; charset=latin1',
  'application/json; a="b;c\\"',
  'multipart/form-data; boundary=x',
  `application/json; ${'x'.repeat(3000)}`,
]

const HEADERS = headersOf({
  Accept: ['text/html', '*/*;q=0', 'text/event-stream'],
  'Accept-Encoding': ['gzip, br;q=1.0, identity;q=0'],
  Connection: ['close', 'keep-alive'],
  'Content-Encoding': ['gzip', 'identity'],
  Expect: ['100-continue', '200-maybe'],
  'If-Match': ['"nothing"', '\xff', '"x", '.repeat(500)],
  'If-Modified-Since': ['Sat, 21 Nov 2026 00:00:00 GMT'],
  'If-None-Match': ['*', '"'.repeat(3000)],
  Origin: ['http://x'],
  Range: ['bytes=0-5'],
  traceparent: ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
  'X-Forwarded-For': ['192.0.2.1'],
  'X-HTTP-Method-Override': ['DELETE'],
  'X-Request-Id': ['a'.repeat(300)],
  ['__proto__']: ['x'],
  constructor: ['x'],
})

const SEGMENTS = 'four 01 +4 4.0 1e2 -0 %34 %00 %F0%9F%8C%B2 * 4;a=b ..4'.split(' ')

const QUERIES = [
  ...'limit limit=0 limit=1001 limit=%31 limit=1&limit=2 tag= tag=%00 tag=%ff &&&== %zz'.split(' '),
  ...'after=9223372036854775808 after=-9223372036854775808&limit=1000'.split(' '),
  ...'unknown=1 __proto__=1 a[b]=1'.split(' '),
  `tag=${'x'.repeat(3000)}`,
]

const mutations: readonly Mutate[] = [
  (request, random) => setHeader(request, 'Authorization', random.pick(AUTHORIZATIONS)),
  (request, random) =>
    setHeader(request, 'Authorization', `Bearer plant_${random.bytes(32).toString('base64url')}`),
  (request) => removeHeader(request, 'Authorization'),
  (request, random) => Object.assign(request, { body: flipped(request.body, random) }),
  (request, random) =>
    Object.assign(request, { body: request.body.slice(0, random.below(request.body.length)) }),
  replaceBody,
  replaceBody,
  replaceBody,
  (request, random) => setHeader(request, 'Content-Type', random.pick(CONTENT_TYPES)),
  (request) => removeHeader(request, 'Content-Type'),
  (request, random) => void request.headers.push(random.pick(HEADERS)),
  (request, random) => void request.headers.push(random.pick(HEADERS), random.pick(HEADERS)),
  ({ headers }, random) => headers.length > 0 && headers.push(random.pick(headers)),
  (request, random) => Object.assign(request, { headers: random.shuffled(request.headers) }),
  ({ headers }, random) => void headers.splice(random.below(headers.length), 1),
  (request, random) => {
    const inCase = random.pick(['toUpperCase', 'toLowerCase'] as const)
    request.headers = request.headers.map(([name, value]) => [name[inCase](), value])
  },
  (request, random) => {
    const size = random.pick([1000, 8000, 15_000, 17_000])
    request.headers.push([`X-${random.below(100)}`, 'x'.repeat(size)])
  },
  (request, random) => {
    if (request.body.length > 0) request.chunks = [1 + random.below(50), 1 + random.below(500)]
  },
  (request, random) => Object.assign(request, { method: random.pick(KNOWN_METHODS) }),
  (request, random) => Object.assign(request, { target: `/plants/${random.pick(SEGMENTS)}` }),
  (request, random) => {
    const [path] = request.target.split('?')
    request.target = `${path}?${random.pick(QUERIES)}`
  },
]

/** Applies one to three mutations. */
export function mutateGently(request: Request, random: Random): void {
  const times = 1 + random.below(3)
  for (let index = 0; index < times; index++) random.pick(mutations)(request, random)
}

function replaceBody(request: Request, random: Random): void {
  if (['GET', 'HEAD'].includes(request.method) && !random.oneIn(5)) return
  request.body = hostileBody(random)
  if (random.oneIn(2)) setHeader(request, 'Content-Type', 'application/json')
}

/** Flips one to eight bits. */
export function flipped(bytes: string, random: Random): string {
  const copy = Buffer.from(bytes, 'latin1')
  const times = copy.length > 0 ? 1 + random.below(8) : 0
  for (let index = 0; index < times; index++) {
    const position = random.below(copy.length)
    copy[position] = (copy[position] as number) ^ (1 << random.below(8))
  }
  return copy.toString('latin1')
}

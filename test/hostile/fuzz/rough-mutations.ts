/**
 * Mutations that may change the framing, method or path of a request, or split it into several. Any response that the
 * contract documents anywhere is accepted.
 */
import { flipped } from './gentle-mutations.ts'
import type { Random } from './random.ts'
import {
  chunked,
  type Header,
  headersOf,
  type Request,
  removeHeader,
  serialize,
  setHeader,
} from './request.ts'
import { validRequest } from './valid-requests.ts'

type MutateParts = (request: Request, random: Random) => unknown
type MutateBytes = (bytes: string, random: Random) => string

const TARGETS = [
  '',
  ...'* x x:1 // /plants/ /plants//4 //plants/4 /%70lants /PLANTS /plants?limit=1?limit=2'.split(
    ' ',
  ),
  ...'/plants/%2e%2e/4 /plants/4/../5 /plants/% /plants/%zz /plants/4%2F5'.split(' '),
  ...'http://x/plants http://x:y@z/plants https://x HTTP://X/plants/4?limit=1'.split(' '),
  '/plants/\xff',
  '/plants/4#fragment',
  '/plants/4 x',
  `/plants/${'4'.repeat(12_000)}`,
  `/${'x/'.repeat(5000)}`,
  `/plants?tag=${'x'.repeat(20_000)}`,
]

const METHODS = [
  ...['get', 'FOO', 'CONNECT', 'PRI', 'GETGET', '', ' ', 'G\0T', 'P\xd6ST'],
  'x'.repeat(9000),
]

const VERSIONS = [
  '',
  ...'HTTP/1.0 HTTP/0.9 HTTP/2.0 HTTP/1.10 HTTP/1. HTTPS/1.1 http/1.1'.split(' '),
]

const LENGTHS = [...'0 1 -1 +5 0x10 1e3 99999 18446744073709551617'.split(' '), '5, 5', '5, 6', ' ']

const CODINGS = [
  ...['gzip, chunked', 'chunked, chunked', 'chunked, gzip', 'xchunked', 'identity', 'Chunked'],
  ...[' chunked', '\tchunked\t', ','],
]

const FRAMING_HEADERS = headersOf({
  Host: ['x', 'a, b', 'a b/c@', '', 'x'.repeat(3000)],
  'Content-Type': ['application/json'],
  'Content-Range': ['bytes 0-1/2'],
  Authorization: ['Bearer x'],
  Connection: ['Upgrade', 'close, keep-alive', '\x00'],
  Upgrade: ['websocket', 'h2c'],
  'HTTP2-Settings': ['AAMAAABkAAQAAP__'],
  'Keep-Alive': ['timeout=0, max=0'],
  Trailer: ['Content-Length'],
  'Content-Length ': ['5'],
  'Content\tLength': ['5'],
  '': ['no name'],
  'no\rreturn': ['x'],
  X: ['one\r\n two', 'one\nContent-Length: 5', 'one\rTransfer-Encoding: chunked', 'nul\0'],
})

/** Broken bodies for `Transfer-Encoding: chunked`. */
const CHUNKS: readonly ((body: string) => string)[] = [
  (body) => `zz\r\n${body}\r\n0\r\n\r\n`,
  (body) => `-5\r\n${body}\r\n0\r\n\r\n`,
  (body) => `ffffffffffffffff1\r\n${body}`,
  (body) => `7fffffffffffffff\r\n${body}`,
  (body) => `5\r\n${body}0\r\n\r\n`,
  (body) => `5;${'x'.repeat(20_000)}\r\n${body}`,
  (body) => `${chunked(body, [100]).slice(0, -2)}Host: y\r\n\r\n`,
  (body) => `${chunked(body, [100]).slice(0, -2)}Content-Length: 9\r\nX\r\n\r\n`,
  (body) => chunked(body, [100]).slice(0, -5),
  (body) => chunked(body, [3]).slice(0, -1),
  (body) => chunked(body, [7]).replaceAll('\r\n', '\n'),
  (body) => '0'.repeat(5000) + chunked(body, [100]),
]

const parts: readonly MutateParts[] = [
  (request, random) => Object.assign(request, { target: random.pick(TARGETS) }),
  (request, random) => Object.assign(request, { method: random.pick(METHODS) }),
  (request, random) => Object.assign(request, { version: random.pick(VERSIONS) }),
  (request, random) => request.headers.push(['Content-Length', random.pick(LENGTHS)]),
  (request, random) => request.headers.unshift(['Content-Length', random.pick(LENGTHS)]),
  (request, random) => request.headers.push(['Transfer-Encoding', random.pick(CODINGS)]),
  (request, random) => {
    request.chunks = [10]
    request.headers.push(['Content-Length', random.pick(LENGTHS)])
  },
  (request, random) => request.headers.push(random.pick(FRAMING_HEADERS)),
  (request, random) => request.headers.unshift(random.pick(FRAMING_HEADERS)),
  (request, random) => setHeader(request, ...random.pick(FRAMING_HEADERS)),
  (request) => removeHeader(request, 'Host'),
  ({ headers }, random) =>
    headers.push(...Array<Header>(random.pick([100, 1000, 3000])).fill(['a', ''])),
]

const bytes: readonly MutateBytes[] = [
  flipped,
  flipped,
  (whole, random) => whole.slice(0, random.below(whole.length)),
  (whole, random) => {
    const at = random.below(whole.length)
    const inserted = random.bytes(1 + random.below(20)).toString('latin1')
    return whole.slice(0, at) + inserted + whole.slice(at)
  },
  (whole, random) => {
    const at = random.below(whole.length)
    return whole.slice(0, at) + whole.slice(at + 1 + random.below(20))
  },
  (whole, random) => {
    const at = random.below(whole.length)
    return whole.slice(0, at + random.below(200)) + whole.slice(at)
  },
  // Splices two requests.
  (whole, random) => {
    const other = serialize(validRequest(random))
    return whole.slice(0, random.below(whole.length)) + other.slice(random.below(other.length))
  },
  (whole) => whole.replaceAll('\r\n', '\n'),
  (whole) => whole.replaceAll('\r\n', '\r'),
  (whole) => whole.replace('\r\n', '\r\n\r\n'),
  (whole) => whole.replace('\r\n', '\r\r\n'),
  (whole) => whole.replace('\r\n\r\n', '\r\n'),
  (whole) => whole.replace('\r\nHost', '\r\n Host'),
  (whole) => whole.replaceAll(': ', ' : '),
  (whole) => whole.replaceAll(': ', ':'),
  (whole) => whole.replace(' ', '  '),
  (whole) => whole.replace(' ', '\t'),
  (whole) => `\r\n\r\n\r\n${whole}`,
  // The start of a TLS handshake.
  (whole) => `\x16\x03\x01\x02\x00\x01${whole}`,
  (whole) => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${whole}`,
  (whole) => whole + '\0'.repeat(300),
]

/** Serializes a request with one or two defects. */
export function mutateRoughly(request: Request, random: Random): string {
  if (random.oneIn(8)) return withBadChunks(request, random)
  if (random.oneIn(2)) return random.pick(bytes)(serialize(request), random)
  random.pick(parts)(request, random)
  const whole = serialize(request)
  return random.oneIn(4) ? random.pick(bytes)(whole, random) : whole
}

function withBadChunks(request: Request, random: Random): string {
  request.headers.push(['Transfer-Encoding', 'chunked'])
  const body = request.body || '{"id":7,"name":"x"}'
  return serialize({ ...request, body: '' }) + random.pick(CHUNKS)(body)
}

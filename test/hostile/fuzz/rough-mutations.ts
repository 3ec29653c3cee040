/**
 * Mutations that may change the framing, method or path of a request, or split it into several. Any response that the
 * contract documents anywhere is accepted.
 */
import { flipped } from './gentle-mutations.ts'
import type { Random } from './random.ts'
import { bytesOf, chunked, type Header, type Request, removeHeader, setHeader } from './request.ts'
import { validRequest } from './valid-requests.ts'

type MutateParts = (request: Request, random: Random) => void
type MutateBytes = (bytes: Buffer, random: Random) => Buffer

const TARGETS = [
  '*',
  'x',
  '',
  '//',
  '/plants/',
  '/plants//4',
  '//plants/4',
  '/plants/%2e%2e/4',
  '/plants/4/../5',
  '/plants/%',
  '/plants/%zz',
  '/plants/4%2F5',
  '/plants/\xff',
  '/plants/4#fragment',
  '/plants/4 x',
  '/%70lants',
  '/PLANTS',
  '/plants?limit=1?limit=2',
  'http://x/plants',
  'http://x:y@z/plants',
  'https://x',
  'HTTP://X/plants/4?limit=1',
  'x:1',
  `/plants/${'4'.repeat(12_000)}`,
  `/${'x/'.repeat(5000)}`,
  `/plants?tag=${'x'.repeat(20_000)}`,
]

const METHODS = [
  'get',
  'FOO',
  'CONNECT',
  'PRI',
  'GETGET',
  '',
  ' ',
  'G\0T',
  'P\xd6ST',
  'x'.repeat(9000),
]

const VERSIONS = [
  'HTTP/1.0',
  'HTTP/0.9',
  'HTTP/2.0',
  'HTTP/1.10',
  'HTTP/1.',
  'HTTPS/1.1',
  'http/1.1',
  '',
]

const LENGTHS = [
  '0',
  '1',
  '-1',
  '+5',
  '0x10',
  '5, 5',
  '5, 6',
  ' ',
  '1e3',
  '99999',
  '18446744073709551617',
]

const CODINGS = [
  'gzip, chunked',
  'chunked, chunked',
  'chunked, gzip',
  'xchunked',
  'identity',
  'Chunked',
  ' chunked',
  '\tchunked\t',
  ',',
]

const FRAMING_HEADERS: readonly Header[] = [
  ['Host', 'x'],
  ['Host', 'a, b'],
  ['Host', 'a b/c@'],
  ['Host', ''],
  ['Host', 'x'.repeat(3000)],
  ['Content-Type', 'application/json'],
  ['Content-Range', 'bytes 0-1/2'],
  ['Authorization', 'Bearer x'],
  ['Connection', 'Upgrade'],
  ['Connection', 'close, keep-alive'],
  ['Connection', '\x00'],
  ['Upgrade', 'websocket'],
  ['Upgrade', 'h2c'],
  ['HTTP2-Settings', 'AAMAAABkAAQAAP__'],
  ['Keep-Alive', 'timeout=0, max=0'],
  ['Trailer', 'Content-Length'],
  ['Content-Length ', '5'],
  ['Content\tLength', '5'],
  ['', 'no name'],
  ['no\rreturn', 'x'],
  ['X', 'one\r\n two'],
  ['X', 'one\nContent-Length: 5'],
  ['X', 'one\rTransfer-Encoding: chunked'],
  ['X', 'nul\0'],
]

/** Broken bodies for `Transfer-Encoding: chunked`. */
const CHUNKS: readonly ((body: Buffer) => Buffer)[] = [
  (body) => Buffer.concat([Buffer.from('zz\r\n'), body, Buffer.from('\r\n0\r\n\r\n')]),
  (body) => Buffer.concat([Buffer.from('-5\r\n'), body, Buffer.from('\r\n0\r\n\r\n')]),
  (body) => Buffer.concat([Buffer.from('ffffffffffffffff1\r\n'), body]),
  (body) => Buffer.concat([Buffer.from('7fffffffffffffff\r\n'), body]),
  (body) => Buffer.concat([Buffer.from('5\r\n'), body, Buffer.from('0\r\n\r\n')]),
  (body) => Buffer.concat([Buffer.from(`5;${'x'.repeat(20_000)}\r\n`), body]),
  (body) => Buffer.concat([chunked(body, [100]).subarray(0, -2), Buffer.from('Host: y\r\n\r\n')]),
  (body) =>
    Buffer.concat([
      chunked(body, [100]).subarray(0, -2),
      Buffer.from('Content-Length: 9\r\nX\r\n\r\n'),
    ]),
  (body) => chunked(body, [100]).subarray(0, -5),
  (body) => chunked(body, [3]).subarray(0, -1),
  (body) => Buffer.from(chunked(body, [7]).toString('latin1').replaceAll('\r\n', '\n'), 'latin1'),
  (body) => Buffer.concat([Buffer.from('0'.repeat(5000)), chunked(body, [100])]),
]

const parts: readonly MutateParts[] = [
  (request, random) => {
    request.target = random.pick(TARGETS)
  },
  (request, random) => {
    request.method = random.pick(METHODS)
  },
  (request, random) => {
    request.version = random.pick(VERSIONS)
  },
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
  (request, random) => {
    const number = random.pick([100, 1000, 3000])
    for (let index = 0; index < number; index++) request.headers.push(['a', ''])
  },
]

const bytes: readonly MutateBytes[] = [
  flipped,
  flipped,
  (whole, random) => whole.subarray(0, random.below(whole.length)),
  (whole, random) => {
    const at = random.below(whole.length)
    return Buffer.concat([
      whole.subarray(0, at),
      random.bytes(1 + random.below(20)),
      whole.subarray(at),
    ])
  },
  (whole, random) => {
    const at = random.below(whole.length)
    return Buffer.concat([whole.subarray(0, at), whole.subarray(at + 1 + random.below(20))])
  },
  (whole, random) => {
    const [from, length] = [random.below(whole.length), random.below(200)]
    const slice = whole.subarray(from, from + length)
    return Buffer.concat([whole.subarray(0, from), slice, whole.subarray(from)])
  },
  // Splices two requests.
  (whole, random) => {
    const other = bytesOf(validRequest(random))
    const cut = whole.subarray(0, random.below(whole.length))
    return Buffer.concat([cut, other.subarray(random.below(other.length))])
  },
  inText((text) => text.replaceAll('\r\n', '\n')),
  inText((text) => text.replaceAll('\r\n', '\r')),
  inText((text) => text.replace('\r\n', '\r\n\r\n')),
  inText((text) => text.replace('\r\n', '\r\r\n')),
  inText((text) => text.replace('\r\n\r\n', '\r\n')),
  inText((text) => text.replace('\r\nHost', '\r\n Host')),
  inText((text) => text.replaceAll(': ', ' : ')),
  inText((text) => text.replaceAll(': ', ':')),
  inText((text) => text.replace(' ', '  ')),
  inText((text) => text.replace(' ', '\t')),
  (whole) => Buffer.concat([Buffer.from('\r\n\r\n\r\n'), whole]),
  (whole) => Buffer.concat([Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]), whole]),
  (whole) => Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), whole]),
  (whole) => Buffer.concat([whole, Buffer.alloc(300)]),
]

/** Serializes a request with one or two defects. */
export function mutateRoughly(request: Request, random: Random): Buffer {
  if (random.oneIn(8)) return withBadChunks(request, random)
  if (random.oneIn(2)) return random.pick(bytes)(bytesOf(request), random)
  random.pick(parts)(request, random)
  const whole = bytesOf(request)
  return random.oneIn(4) ? random.pick(bytes)(whole, random) : whole
}

function withBadChunks(request: Request, random: Random): Buffer {
  const head = bytesOf({
    ...request,
    headers: [...request.headers, ['Transfer-Encoding', 'chunked']],
    body: Buffer.alloc(0),
  })
  const body = request.body.length > 0 ? request.body : Buffer.from('{"id":7,"name":"x"}')
  return Buffer.concat([head, random.pick(CHUNKS)(body)])
}

function inText(change: (text: string) => string): MutateBytes {
  return (whole) => Buffer.from(change(whole.toString('latin1')), 'latin1')
}

/** The CORS headers of every kind of response (https://fetch.spec.whatwg.org/#http-cors-protocol). */
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../../service/plant-store.ts'
import type { Config } from '../../../src/config/config.ts'
import { serviceBusy } from '../../../src/http/responses/api-error.ts'
import { EXPIRED } from '../../helpers/changes.ts'
import { formatHead } from '../../helpers/connection.ts'
import {
  type Answer,
  documentedStatuses,
  responsesOutsideOperations,
} from '../../helpers/contract-check.ts'
import { APP, corsHeaders, formatHeaders, members, STRANGER } from '../../helpers/cors.ts'
import {
  type Call,
  expireRequests,
  type Service,
  type StartOptions,
  sendRaw,
  startService,
} from '../../helpers/service.ts'

const NEVER_AGAIN = { requests: 1, window: 86_400_000 }

const start = (t: Test, config: Partial<Config> = {}, options: StartOptions = {}) =>
  startService(t, { ...options, config: { corsOrigin: [APP], ...config } })

let service: Service
t.before(async () => {
  service = await start(t, { bodyLimit: 1000 })
  await service.call({ body: { id: 4n, name: 'Abies alba Mill.', tag: 'Tree' } })
  await service.call({ body: { id: 5n, name: 'Acer rubrum L.', tag: 'Tree' } })
})

/** Produces a response to a request with an additional header, unless that is empty. */
type Produce = (t: Test, added: Record<string, string>) => Promise<Answer | undefined>

/** Sends a request to the shared service. */
const call =
  (call: Call): Produce =>
  (_t, added) =>
    service.call({ ...call, headers: { ...call.headers, ...added } })

/** Sends a head with a token and then other bytes, on a connection that stays open like that of a browser. */
const raw =
  (line: string, headers: string, body = ''): Produce =>
  (_t, added) =>
    sendOpen(service, line, headers + formatHeaders(added), body)

async function sendOpen(service: Service, line: string, headers: string, body: string) {
  return (await sendRaw(service.port, formatHead(service, line, headers) + body, false)).at(-1)
}

/** Starts a service when it is first needed. */
function startLater(config: Partial<Config>, options?: StartOptions): () => Promise<Service> {
  let started: Promise<Service> | undefined
  return () => {
    started ??= start(t, config, options)
    return started
  }
}

/** Sends a read to a service whose store fails. */
function failing(error: () => Error, path = '/plants'): Produce {
  const fail = () => Promise.reject(error())
  const started = startLater({}, { instead: { list: fail, ping: fail } })
  return async (_t, headers) => (await started()).call({ method: 'GET', path, headers })
}

/** Repeats a read with a wrong token until a service rejects it. */
function limited(config: Partial<Config>): Produce {
  const started = startLater(config)
  return async (_t, headers) => {
    const call = { method: 'GET', headers, token: 'wrong' }
    for (;;) {
      const answer = await (await started()).call(call)
      if (answer.status === 429) return answer
    }
  }
}

/** Starts a service whose reads of a plant wait for `release`. */
async function startHeld(t: Test) {
  const gate = Promise.withResolvers<undefined>()
  const begun = Promise.withResolvers<void>()
  const get = () => {
    begun.resolve()
    return gate.promise
  }
  const held = await start(t, {}, { instead: { get } })
  return { held, begun: begun.promise, release: () => gate.resolve(undefined) }
}

/** Sends a request that is in flight when the service stops. */
const stopping: Produce = async (t, headers) => {
  const { held, begun, release } = await startHeld(t)
  const answer = held.call({ method: 'GET', path: '/plants/4', headers })
  await begun
  const closing = held.close()
  release()
  await closing
  return answer
}

const slow: Produce = async (t, added) => {
  const service = await start(t)
  service.app.server.once('request', () => expireRequests(service))
  return sendOpen(service, 'POST /plants', LENGTH + formatHeaders(added), '{')
}

const JSON_TYPE = 'Content-Type: application/json\r\n'
const LENGTH = `${JSON_TYPE}Content-Length: 9\r\n`
const CHUNKED = `${JSON_TYPE}Transfer-Encoding: chunked\r\n`

const RESPONSES: [status: number, what: string, produce: Produce][] = [
  [200, 'a page with a link', call({ method: 'GET', path: '/plants?limit=1' })],
  [200, 'HEAD', call({ method: 'HEAD', path: '/plants/4' })],
  [200, 'health', call({ method: 'GET', path: '/health/live', token: null })],
  [200, 'the docs', call({ method: 'GET', path: '/documentation', token: null })],
  [302, 'a redirect', call({ method: 'GET', path: '/', token: null })],
  [
    304,
    'a known contract',
    call({ method: 'GET', path: '/documentation/json', headers: { 'if-none-match': '*' } }),
  ],
  [400, 'an invalid body', call({ body: {} })],
  [400, 'a path that is not UTF-8', call({ method: 'GET', path: '/plants/%ff' })],
  [400, 'two Host headers', raw('GET /plants', 'Host: x\r\nConnection: close\r\n')],
  [400, 'a target that is no path', raw('GET *', 'Connection: close\r\n')],
  [
    400,
    'a method outside HTTP',
    async (_t, added) => {
      const head = `PLAY /plants RTSP/1.0\r\nHost: x\r\n${formatHeaders(added)}\r\n`
      return (await sendRaw(service.port, head, false))[0]
    },
  ],
  [
    505,
    'another version of HTTP',
    async (_t, added) => {
      const head = formatHead(service, 'GET /plants', formatHeaders(added))
      return (await sendRaw(service.port, head.replace('HTTP/1.1', 'HTTP/2.0')))[0]
    },
  ],
  [400, 'CONNECT', raw('CONNECT example.org:443', '')],
  [400, 'a malformed chunk', raw('POST /plants', CHUNKED, 'xyz\r\n')],
  [400, 'tiny chunks', raw('POST /plants', CHUNKED, '1\r\n \r\n'.repeat(200))],
  [401, 'no token', call({ method: 'GET', token: null })],
  [401, 'OPTIONS that is no preflight', call({ method: 'OPTIONS', token: null })],
  [
    403,
    'a token without the scope',
    async (_t, headers) => {
      const token = await service.issueToken(crypto.randomUUID(), ['write'])
      return service.call({ method: 'GET', token, headers })
    },
  ],
  [404, 'an unknown path', call({ method: 'GET', path: '/nowhere' })],
  [404, 'a request in flight during shutdown', stopping],
  [405, 'an unsupported method', call({ method: 'DELETE' })],
  [408, 'a slow body', slow],
  [410, 'an expired cursor', call({ method: 'GET', path: `/changes?after=${EXPIRED}` })],
  [409, 'a conflict', call({ body: { id: 4n, name: 'Acer' } })],
  [
    412,
    'a changed plant',
    call({ method: 'GET', path: '/plants/4', headers: { 'if-match': '"other"' } }),
  ],
  [413, 'a large body', call({ body: { id: 6n, name: 'x'.repeat(1000) } })],
  [415, 'a wrong media type', call({ headers: { 'content-type': 'text/plain' }, body: '{}' })],
  [421, 'an https URL', raw('GET https://example.org/plants', 'Connection: close\r\n')],
  [429, 'an address over its limit', limited({ authFailureLimit: NEVER_AGAIN })],
  [500, 'a bug', failing(() => new TypeError('a bug'))],
  [
    501,
    'a transfer coding',
    call({ headers: { 'transfer-encoding': 'gzip, chunked' }, body: '{}' }),
  ],
  [503, 'a busy service', failing(serviceBusy)],
  [
    503,
    'a service that is not ready',
    failing(() => new StoreUnavailable('failing', 'SQLITE_IOERR'), '/health/ready'),
  ],
]

for (const [status, what, produce] of RESPONSES) {
  t.test(`only an allowed origin can read ${status}: ${what}`, async (t) => {
    const allowed = await produce(t, { Origin: APP })
    t.match(allowed, { status, headers: { 'access-control-allow-origin': APP } })
    t.ok(members(allowed?.headers.vary).includes('origin'))
    t.ok(members(allowed?.headers['access-control-expose-headers']).includes('x-request-id'))
    for (const headers of [{ Origin: STRANGER }, {}]) {
      const other = (await produce(t, headers)) as Answer
      t.equal(other.status, status)
      t.same(corsHeaders(other), {})
      t.ok(members(other.headers.vary).includes('origin'))
    }
  })
}

t.test('every status of the contract that follows a parsed head is tested here', async (t) => {
  const documented = [
    ...documentedStatuses().map(({ status }) => status),
    ...Object.keys(responsesOutsideOperations()).map(Number),
  ].filter((status) => status >= 400)
  const tested = new Set(RESPONSES.map(([status]) => status))
  // The head of a request that gets 431 was not parsed completely, so its origin is unknown.
  t.same(new Set(documented).difference(tested), new Set([431]))
})

t.test('a failure before the head is parsed has no CORS headers', async (t) => {
  const origin = `Origin: ${APP}\r\n`
  for (const [status, head] of [
    [400, `GET /plants HTTP/1.1\r\nHost: x\r\n${origin}nonsense\r\n\r\n`],
    [431, `GET /plants HTTP/1.1\r\nHost: x\r\n${origin}X: ${'x'.repeat(20_000)}\r\n\r\n`],
  ] as const) {
    const [answer] = (await sendRaw(service.port, head, false)) as [Answer]
    t.equal(answer.status, status)
    t.same(corsHeaders(answer), {})
  }
  const first = formatHead(service, 'GET /plants/4', origin)
  const answers = await sendRaw(service.port, `${first}nonsense\r\n\r\n`, false)
  t.same(
    answers.map((answer) => [answer.status, answer.headers['access-control-allow-origin']]),
    [
      [200, APP],
      [400, undefined],
    ],
    'it does not get those of the request before it',
  )
})

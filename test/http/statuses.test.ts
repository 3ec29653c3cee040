/** Each status and error that the contract documents, with its body, and the headers of CORS and of all responses. */
import { inspect } from 'node:util'
import t, { type Test } from 'tap'
import type { OperationId } from '../../core/contract/operation-types.ts'
import type { Scope } from '../../core/contract/scopes.ts'
import { type ErrorCode, errorCodes } from '../../core/generated/error-codes.gen.ts'
import { StoreUnavailable } from '../../service/store/plant-store.ts'
import type { Config } from '../../src/config/config.ts'
import { serviceBusy } from '../../src/http/responses/api-error.ts'
import { formatHead } from '../helpers/network/connection.ts'
import { APP, corsHeaders, formatHeaders, members, STRANGER } from '../helpers/network/cors.ts'
import { Issuer, newKey } from '../helpers/network/issuer.ts'
import { EXPIRED } from '../helpers/plants/changes.ts'
import { createIn } from '../helpers/plants/single-changes.ts'
import {
  type Answer,
  operations,
  responsesOutsideOperations,
} from '../helpers/service/contract-check.ts'
import { makeMirror } from '../helpers/service/mirrors.ts'
import {
  type Call,
  expireRequests,
  type Service,
  type StartOptions,
  sendRaw,
  startService,
} from '../helpers/service/service.ts'
import { PlantModel } from '../stores/plant-model.ts'

const BODY_LIMIT = 1000

/** One request per hour. */
const LIMIT = { requests: 1, window: 3_600_000 }

/** Nine plants of this length exceed what a list can affect. */
const LARGE = 'x'.repeat(2 ** 20 - 100)

const name = 'Abies alba Mill.'
const LARGE_IDS = [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n]

let service: Service
let reader: string
let writer: string
/** The error with which the stores of failing services reject. */
let storeError: Error
const lines: string[] = []
const fail = () => Promise.reject(storeError)

const start = (config: Partial<Config> = {}, options: StartOptions = {}) =>
  startService(t, { ...options, config: { corsOrigin: [APP], ...config } })

/** Services with which all operations fail, started when they are first needed. */
const OTHERS = {
  slow: () => start({ requestTimeout: 50 }),
  limited: () => start({ rateLimit: LIMIT }),
  suspicious: () => start({ authFailureLimit: LIMIT }),
  mirror: async () => {
    const service = await start()
    await makeMirror(service.store)
    return service
  },
  full: async () => {
    const service = await start()
    for (const id of LARGE_IDS) await createIn(service.store, { id, name: LARGE })
    return service
  },
  failing: () => {
    // The model has every other method that handlers call.
    const methods = ['readChanges', 'ping', ...Object.getOwnPropertyNames(PlantModel.prototype)]
    const instead = Object.fromEntries(methods.map((name) => [name, fail]))
    return start({}, { instead, logger: { stream: { write: (line) => void lines.push(line) } } })
  },
  failingTokens: () => start({}, { instead: { findRecord: fail } }),
  signingIn: () => start(issuer.config),
  sorted: () => start({}, { sortable: ['name'] }),
}
const issuer = new Issuer(9)
const started = new Map<string, Promise<Service>>()

function other(which: keyof typeof OTHERS): Promise<Service> {
  const service = started.get(which) ?? OTHERS[which]()
  started.set(which, service)
  return service
}

t.before(async () => {
  service = await start({ bodyLimit: BODY_LIMIT })
  reader = await service.issueToken('reader', ['read'])
  writer = await service.issueToken('writer', ['write'])
  await service.call({ body: { id: 4n, name, tag: 'Tree' } })
})

/** A successful call of each operation. */
const CALLS: Readonly<Record<OperationId, Call>> = {
  createPlant: { method: 'POST', path: '/plants', body: { id: 1n, name } },
  createPlants: { method: 'POST', path: '/plants/batch', body: [{ id: 1n, name }] },
  changePlants: { method: 'PATCH', path: '/plants', body: [{ op: 'update', id: 4n, name }] },
  listPlants: { method: 'GET', path: '/plants' },
  getPlant: { method: 'GET', path: '/plants/4' },
  replacePlant: { method: 'PUT', path: '/plants/4', body: { name } },
  updatePlant: { method: 'PATCH', path: '/plants/4', body: { name } },
  deletePlant: { method: 'DELETE', path: '/plants/4' },
  listTags: { method: 'GET', path: '/tags' },
  getToken: { method: 'GET', path: '/token' },
  listChanges: { method: 'GET', path: '/changes' },
}

const OTHER = { id: 4n, name: 'Acer' }

/** Bodies that cause an error of an operation. */
const BODIES: { [Id in OperationId]?: { [Code in ErrorCode]?: unknown } } = {
  createPlant: { 'invalid-body': { id: 'four', name }, 'plant-exists': OTHER },
  createPlants: {
    'invalid-body': [...Array(17).fill({ id: 1n, name }), { id: 'four', name }],
    'repeated-id': [{ id: 4n, name }, OTHER],
    'plant-exists': [{ id: 1n, name }, OTHER],
    'changes-too-large': LARGE_IDS.map((id) => ({ id, name })),
  },
  changePlants: {
    'invalid-body': [{ op: 'update', id: 4n, name: 4 }],
    'repeated-id': Array(2).fill({ op: 'remove', id: 4n }),
    'plant-not-found': [{ op: 'update', id: 5n, name }],
    'plant-exists': [{ op: 'create', ...OTHER }],
    'plant-changed': [{ op: 'remove', id: 4n, ifMatch: '"other"' }],
    'changes-too-large': LARGE_IDS.map((id) => ({ op: 'remove', id })),
  },
  replacePlant: { 'invalid-body': { id: 'four', name }, 'id-mismatch': { id: 5n, name } },
  updatePlant: { 'invalid-body': { id: 'four', name }, 'id-mismatch': { id: 5n, name } },
}

/** Changes a successful call so that it causes an error, and sends it. */
type Produce = (call: Call, operation: OperationId) => Promise<Answer | undefined>

const send = async (call: Call) => service.call(call)
const withHeaders =
  (headers: Record<string, string>): Produce =>
  (call) =>
    send({ ...call, headers: { ...headers, ...call.headers } })
const known = withHeaders({ 'if-none-match': '*' })
const failWith =
  (error: () => Error): Produce =>
  async (call, operation) => {
    storeError = error()
    return (await other(operation === 'getToken' ? 'failingTokens' : 'failing')).call(call)
  }

const headersOf = ({ headers }: Call) => formatHeaders(headers as Record<string, string>)

/** Sends the head of a call. */
async function sendHeadOf(
  call: Call,
  { to = service, origin = '', version = '1.1', more = '' } = {},
) {
  const headers = `${more}Connection: close\r\n${headersOf(call)}`
  const head = formatHead(to, `${call.method} ${origin}${call.path}`, headers)
  return (await sendRaw(to.port, head.replace('HTTP/1.1', `HTTP/${version}`), false)).at(-1)
}

const JSON_TYPE = 'Content-Type: application/json\r\n'

/** Calls a service until it has reached a limit. */
async function exceed(service: Service, call: Call): Promise<Answer> {
  for (;;) {
    const answer = await service.call(call)
    if (answer.status === 429) return answer
  }
}

/** How any operation can get each error, unless a body in BODIES causes it. */
const ERRORS: { [Code in ErrorCode]?: Produce } = {
  'invalid-json': (call) => send({ ...call, body: '{"id":4,}' }),
  'malformed-request': (call) => sendHeadOf(call, { more: 'Host: y\r\n' }),
  'invalid-parameter': ({ path = '', ...call }) =>
    send({ ...call, path: path.endsWith('/4') ? '/plants/four' : `${path}?x=1` }),
  'cursor-malformed': (call) => send({ ...call, path: '/changes?after=x' }),
  'token-missing': (call) => send({ ...call, token: null }),
  'token-invalid': (call) => send({ ...call, token: 'wrong' }),
  'insufficient-scope': (call) => send({ ...call, token: call.method === 'GET' ? writer : reader }),
  'read-only-mirror': async (call) => (await other('mirror')).call(call),
  'unknown-path': (call) => send({ ...call, path: '/plant' }),
  'plant-not-found': (call) => send({ ...call, path: '/plants/5' }),
  'method-not-allowed': (call) => send({ ...call, method: 'DELETE', path: '/plants' }),
  'request-timeout': async (call) => {
    if (call.body !== undefined) return (await lateAnswers).get(lateKey(call))
    const { port } = await other('slow')
    return (await sendRaw(port, `${call.method} ${call.path}`, false))[0]
  },
  'cursor-expired': (call) => send({ ...call, path: `/changes?after=${EXPIRED}` }),
  'plant-changed': withHeaders({ 'if-match': '"other"' }),
  'body-too-large': (call) => send({ ...call, body: { id: 5n, name: 'x'.repeat(BODY_LIMIT) } }),
  'unsupported-media-type': withHeaders({ 'content-type': 'text/plain' }),
  'unsupported-charset': withHeaders({ 'content-type': 'application/json; charset=iso-8859-1' }),
  'unsupported-content-coding': withHeaders({ 'content-encoding': 'gzip' }),
  'misdirected-request': (call) => sendHeadOf(call, { origin: 'https://example.org' }),
  'too-many-failures': async (call) =>
    exceed(await other('suspicious'), { ...call, token: 'wrong' }),
  'too-many-requests': async (call) => exceed(await other('limited'), call),
  'headers-too-large': withHeaders({ 'x-long': 'x'.repeat(20_000) }),
  'internal-error': failWith(() => new TypeError('a bug')),
  'unsupported-transfer-coding': withHeaders({ 'transfer-encoding': 'gzip, chunked' }),
  'store-busy': failWith(() => new StoreUnavailable('busy', 'SQLITE_BUSY')),
  'store-unavailable': failWith(() => new StoreUnavailable('failing', 'SQLITE_FULL')),
  'service-busy': failWith(serviceBusy),
  // Nothing builds the index.
  'index-incomplete': async (call) =>
    (await other('sorted')).call({ ...call, path: '/plants?sort=name' }),
  'issuer-unavailable': async (call) => {
    const token = await issuer.sign({}, {}, await newKey())
    return (await other('signingIn')).call({ ...call, token })
  },
  'unsupported-http-version': (call) => sendHeadOf(call, { version: '2.0' }),
}

/** How an operation gets a status that is no error. */
const SUCCESSES: Readonly<Record<number, Produce>> = {
  200: send,
  204: async (call) => {
    const id = BigInt(crypto.getRandomValues(new Uint32Array(1))[0] as number)
    await service.call({ body: { id, name } })
    return send({ ...call, path: `/plants/${id}` })
  },
  304: known,
}

/** Messages that are not those of the example, which several operations share. */
const OWN_MESSAGES: { [Code in ErrorCode]?: RegExp } = {
  'invalid-parameter': /^unknown query parameter "x": this operation accepts /,
  'insufficient-scope': /^this operation requires a token with the (read|read and write) scopes?$/,
  'unsupported-media-type':
    /^the Content-Type must be application\/merge-patch\+json or application\/json$/,
}

/** A message without its variable parts: numbers and the request id. */
function template(message: string, requestId = 'hS0qXv2jQ6k-1a'): string {
  return message.replace(requestId, '<request id>').replace(/\d+(\.\d+)?/g, '<number>')
}

/** A plant's version is checked whenever it is used again. */
const CACHED: readonly OperationId[] = ['getPlant', 'replacePlant', 'updatePlant']

const UNKNOWN = 'unknown'

interface Sent {
  /** If the head was not parsed completely, it is unknown. */
  readonly origin: string | undefined
  readonly answer: Answer
}

/** What is checked of every response. */
function summarize({ origin, answer }: Sent) {
  const { status, headers } = answer
  const exposed = members(headers['access-control-expose-headers'])
  return {
    status,
    hasId: /^[\w-]{11}-[\da-z]+$/.test(headers['x-request-id'] ?? ''),
    sniffing: headers['x-content-type-options'],
    cache: headers['cache-control'],
    varies: origin !== UNKNOWN && members(headers.vary).includes('origin'),
    ...(origin === APP
      ? {
          allowed: headers['access-control-allow-origin'],
          exposesId: exposed.includes('x-request-id'),
        }
      : corsHeaders(answer)),
  }
}

/** @param cache is undefined if it does not matter */
function expectedOf({ origin, answer }: Sent, status: number, cache: string | undefined) {
  return {
    status,
    hasId: true,
    sniffing: 'nosniff',
    cache: cache ?? answer.headers['cache-control'],
    varies: origin !== UNKNOWN,
    ...(origin === APP && { allowed: APP, exposesId: true }),
  }
}

interface ErrorExample {
  readonly error: number
  readonly message: string
}

interface Row {
  readonly operation: OperationId
  readonly status: number
  readonly code?: ErrorCode
  readonly example?: ErrorExample
}

const isCode = (name: string): name is ErrorCode => Object.hasOwn(errorCodes, name)

/** A row for each error of a response in the contract, and one for a response without errors. */
function rowsOf(operation: OperationId, responses: ReturnType<typeof responsesOutsideOperations>) {
  return Object.entries(responses).flatMap(([status, { content }]): Row[] => {
    const row = { operation, status: Number(status) }
    const codes = Object.entries(content?.['application/json']?.examples ?? {})
      .filter(([name]) => isCode(name))
      .map(([name, { value }]) => ({ code: name as ErrorCode, example: value as ErrorExample }))
    return codes.length === 0 ? [row] : codes.map((code) => ({ ...row, ...code }))
  })
}

const OPERATIONS = operations().map(({ operationId, ...others }) => ({
  operation: operationId as OperationId,
  ...others,
}))
const ROWS = OPERATIONS.flatMap(({ operation, responses }) => rowsOf(operation, responses))
const codes = new Set(ROWS.map(({ code }) => code))
// All others are errors of operations, too.
const OUTSIDE = rowsOf('createPlant', responsesOutsideOperations()).filter(
  ({ code }) => code !== undefined && !codes.has(code),
)

const lateKey = ({ method, path, headers }: Call) => `${method} ${path} ${headers?.origin}`

/** The responses to calls whose bodies never arrive. They wait for the same check of the service, every second. */
async function answerLate(): Promise<ReadonlyMap<string, Answer | undefined>> {
  const to = await start()
  const calls = Object.values(CALLS)
    .filter(({ body }) => body !== undefined)
    .flatMap((call) => [APP, STRANGER].map((origin) => ({ ...call, headers: { origin } })))
  let arrived = 0
  to.app.server.on('request', () => ++arrived === calls.length && expireRequests(to))
  const more = `${JSON_TYPE}Content-Length: 9\r\n`
  const answers = calls.map(
    async (call) => [lateKey(call), await sendHeadOf(call, { to, more })] as const,
  )
  return new Map(await Promise.all(answers))
}
let lateAnswers: ReturnType<typeof answerLate>
t.before(() => {
  lateAnswers = answerLate()
})

for (const [operation, rows] of Map.groupBy([...ROWS, ...OUTSIDE], (row) => row.operation)) {
  t.test(`${operation} responds as documented`, async (t) => {
    for (const row of rows) await assertRow(t, row)
  })
}

const seen = new Set<string>()

async function assertRow(t: Test, { operation, status, code, example }: Row): Promise<void> {
  const body = code && BODIES[operation]?.[code]
  const produce = body ? send : code ? ERRORS[code] : SUCCESSES[status]
  const what = `${status} ${code ?? ''}`
  if (produce === undefined) return void t.fail(`add a request to ERRORS or BODIES: ${what}`)
  const cache = status < 400 && CACHED.includes(operation) ? 'no-cache' : 'no-store'
  // Whatever the operation, an error has the same headers for other origins.
  const isFirst = !seen.has(what)
  seen.add(what)
  const sent = (isFirst ? [APP, STRANGER] : [APP]).map(async (origin) => {
    const call = { ...CALLS[operation], ...(body !== undefined && { body }), headers: { origin } }
    const full = code === 'changes-too-large' && (await other('full'))
    return { origin, answer: await (full ? full.call(call) : produce(call, operation)) }
  })
  for (const { origin, answer } of await Promise.all(sent)) {
    if (answer === undefined) return void t.fail(`there is no response: ${what}`)
    const isUnparsed = status === 431 || (status === 408 && !CALLS[operation].body)
    const one = { origin: isUnparsed ? UNKNOWN : origin, answer }
    const [actual, expected] = [summarize(one), expectedOf(one, status, cache)]
    if (code === undefined || example === undefined) {
      t.strictSame(actual, expected, what)
      continue
    }
    const { error, message } = JSON.parse(answer.body) as ErrorExample
    const isOwn = OWN_MESSAGES[code]?.test(message) ?? false
    const shown = template(message, answer.headers['x-request-id'])
    t.strictSame(
      { ...actual, error, message: shown },
      { ...expected, error: example.error, message: isOwn ? shown : template(example.message) },
      what,
    )
  }
}

const CONNECT = { method: 'CONNECT', path: 'example.org:443' }
const KNOWN = { method: 'GET', path: '/documentation/json' }
/** Sent to a service whose store fails. */
const onFailing =
  (path: string): Produce =>
  (call) =>
    failWith(() => new StoreUnavailable('failing', 'SQLITE_IOERR'))(
      { ...call, path, token: null },
      'listPlants',
    )

/** Responses that no operation has, or that have other framing. */
const SPECIAL: [status: number, what: string, cache: string | undefined, Call | Produce][] = [
  [200, 'a page with a link', 'no-store', { path: '/plants?limit=1' }],
  [200, 'HEAD', 'no-cache', { method: 'HEAD', path: '/plants/4' }],
  [200, 'health', 'no-store', { path: '/health/live', token: null }],
  [200, 'the docs', undefined, { path: '/documentation', token: null }],
  [204, 'OPTIONS', 'no-store', { method: 'OPTIONS' }],
  [302, 'a redirect', undefined, { path: '/', token: null }],
  [304, 'a known contract', undefined, (call) => known({ ...call, ...KNOWN }, 'listPlants')],
  [400, 'a path that is not UTF-8', 'no-store', { path: '/plants/%ff' }],
  [400, 'a target that is no path', 'no-store', (call) => sendHeadOf({ ...call, path: '*' })],
  [400, 'a method outside HTTP', 'no-store', sendPlay],
  [400, 'CONNECT', 'no-store', (call) => sendHeadOf({ ...call, ...CONNECT })],
  [400, 'a malformed chunk', 'no-store', (call) => sendChunks(call, 'xyz\r\n')],
  [400, 'tiny chunks', 'no-store', (call) => sendChunks(call, '1\r\n \r\n'.repeat(200))],
  [401, 'OPTIONS that is no preflight', 'no-store', { method: 'OPTIONS', token: null }],
  [404, 'a request in flight during shutdown', 'no-store', stop],
  [503, 'a service that is not ready', 'no-store', onFailing('/health/ready')],
  [200, 'a service that is live, but not ready', 'no-store', onFailing('/health/live')],
]

async function sendPlay(call: Call): Promise<Answer | undefined> {
  const head = `PLAY /plants RTSP/1.0\r\nHost: x\r\n${headersOf(call)}\r\n`
  return (await sendRaw(service.port, head, false))[0]
}

/** Sends part of a body in chunks, on a connection that stays open like that of a browser. */
async function sendChunks(call: Call, body: string): Promise<Answer | undefined> {
  const coding = `${JSON_TYPE}Transfer-Encoding: chunked\r\n`
  const head = formatHead(service, 'POST /plants', coding + headersOf(call))
  return (await sendRaw(service.port, head + body, false)).at(-1)
}

/** Sends a request that is in flight when its service stops. */
async function stop({ headers = {} }: Call): Promise<Answer> {
  const gate = Promise.withResolvers<undefined>()
  const begun = Promise.withResolvers<void>()
  const get = () => {
    begun.resolve()
    return gate.promise
  }
  const held = await start({}, { instead: { get } })
  const answer = held.call({ method: 'GET', path: '/plants/4', headers })
  await begun.promise
  const closing = held.close()
  gate.resolve(undefined)
  await closing
  return answer
}

t.test('only an allowed origin can read special responses', async (t) => {
  for (const [status, what, cache, request] of SPECIAL) {
    for (const origin of [APP, STRANGER, undefined]) {
      const headers = origin === undefined ? {} : { origin }
      const call = { method: 'GET', path: '/plants', headers }
      const isCall = typeof request !== 'function'
      const answer = await (isCall ? send({ ...call, ...request }) : request(call, 'listPlants'))
      if (answer === undefined) return void t.fail(`there is no response: ${what}`)
      const one = { origin, answer }
      t.strictSame(summarize(one), expectedOf(one, status, cache), `${status}: ${what}`)
    }
  }
})

t.test('a failure before the head is parsed has no CORS headers', async (t) => {
  const origin = `Origin: ${APP}\r\n`
  for (const [bytes, statuses] of [
    ['not HTTP\r\n\r\n', [400]],
    [`GET /plants HTTP/1.1\r\nHost: x\r\n${origin}nonsense\r\n\r\n`, [400]],
    // It does not get those of the request before it.
    [`${formatHead(service, 'GET /plants/4', origin)}nonsense\r\n\r\n`, [200, 400]],
  ] as const) {
    const answers = await sendRaw(service.port, bytes, false)
    t.strictSame(
      answers.map(({ status }) => status),
      statuses,
    )
    const [answer] = answers.slice(-1) as [Answer]
    const one = { origin: UNKNOWN, answer }
    t.strictSame(summarize(one), expectedOf(one, 400, 'no-store'))
  }
})

t.test('the service generates a unique request id', async (t) => {
  const headers = { 'x-request-id': 'chosen-by-the-client', 'request-id': 'chosen-by-the-client' }
  const ids = new Set<string | undefined>(['chosen-by-the-client'])
  for (let sent = 0; sent < 10; sent++) {
    ids.add((await service.call({ method: 'GET', headers })).headers['x-request-id'])
  }
  t.equal(ids.size, 11)
})

t.test('each operation needs its scopes', async (t) => {
  // HEAD works wherever GET does, and an empty patch also returns the plant.
  const variants: Record<string, Call> = { GET: { method: 'HEAD' }, PATCH: { body: {} } }
  for (const operation of OPERATIONS) {
    const scopes = [operation['x-scope']].flat().filter((scope) => scope !== 'any') as Scope[]
    const call = CALLS[operation.operation]
    const names = `${scopes.join(' and ')} scope${scopes.length === 1 ? '' : 's'}`
    const json = { error: 40301, message: `this operation requires a token with the ${names}` }
    const challenge = `Bearer realm="plant-store", error="insufficient_scope", scope="${scopes.join(' ')}"`
    for (const each of [call, { ...call, ...variants[String(call.method)] }]) {
      for (const token of scopes.map((scope) => (scope === 'read' ? writer : reader))) {
        const answer = await service.call({ ...each, token })
        t.strictSame(
          [answer.status, answer.headers['www-authenticate'], answer.json],
          [403, challenge, each.method === 'HEAD' ? undefined : json],
          `RFC 6750 §3: ${each.method} ${each.path} ${inspect(each.body)}`,
        )
      }
    }
  }
})

t.test('an operation needs no other scopes than its own', async (t) => {
  t.equal((await service.call({ ...CALLS.listPlants, token: reader })).status, 200)
  t.equal((await service.call({ ...CALLS.getPlant, token: reader })).status, 200)
  t.equal((await service.call({ ...CALLS.replacePlant, token: writer })).status, 200)
})

t.test('a token with only the scope write receives no stored data', async (t) => {
  const secret = 'Abies secreta'
  await service.call({ body: { id: 7n, name: secret, tag: secret } })
  const path = '/plants/7'
  const calls: Call[] = [
    ...Object.values(CALLS),
    { method: 'GET', path },
    { method: 'POST', body: { id: 7n, name } },
    { method: 'POST', path: '/plants/batch', body: [{ id: 7n, name }] },
    { method: 'PATCH', path: '/plants', body: [{ op: 'create', id: 7n, name }] },
    { method: 'PATCH', path: '/plants', body: [{ op: 'remove', id: 7n, ifMatch: '""' }] },
    { method: 'PATCH', path: '/plants', body: [{ op: 'update', id: 7n }] },
    { method: 'GET', path: '/changes', headers: { accept: 'text/event-stream' } },
    { method: 'PATCH', path, body: {} },
    { method: 'PATCH', path, body: { name } },
    { method: 'PUT', path, body: { name }, headers: { 'if-match': '"another"' } },
    { method: 'PUT', path, body: { name } },
    { method: 'DELETE', path },
  ]
  for (const call of calls) {
    const { headers, body } = await service.call({ ...call, token: writer })
    t.notMatch(JSON.stringify({ headers, body }), secret, JSON.stringify(call.method))
  }
})

t.test('a defect is described in the log and not in the response', async (t) => {
  const defect = failWith(() => new TypeError('secret detail at /secret/path'))
  const answer = await defect(CALLS.createPlant, 'createPlant')
  const id = answer?.headers['x-request-id']
  const message = `internal error: look up request ${id} in the service's log`
  t.equal(answer?.body, JSON.stringify({ error: 50001, message }))
  const logged = lines.map((line) => JSON.parse(line)).findLast(({ level }) => level === 50)
  t.match(logged, { requestId: id, err: { message: /secret detail/ } })
})

t.test('a 503 says when to retry, and only what the store notices, but not why', async (t) => {
  const notice = 'changes must be on 1 standby, but the server waits for 0'
  for (const [error, code, seconds, message] of [
    [new StoreUnavailable('busy', 'SQLITE_SECRET'), 50301, '1', 'the store is busy'],
    [
      new StoreUnavailable('failing', 'SQLITE_SECRET', notice),
      50302,
      '5',
      `the store is temporarily unavailable: ${notice}`,
    ],
  ] as const) {
    const answer = await failWith(() => error)(CALLS.createPlant, 'createPlant')
    const body = JSON.stringify({ error: code, message })
    t.match(answer, { status: 503, headers: { 'retry-after': seconds }, body })
  }
})

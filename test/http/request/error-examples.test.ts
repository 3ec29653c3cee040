/** The service sends every Error example of the contract. */
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../../service/plant-store.ts'
import { serviceBusy } from '../../../src/http/responses/api-error.ts'
import { latestCursor } from '../../helpers/changes.ts'
import {
  type Answer,
  operations,
  responsesOutsideOperations,
} from '../../helpers/contract-check.ts'
import { Issuer, newKey } from '../../helpers/issuer.ts'
import { makeMirror } from '../../helpers/mirrors.ts'
import { sendHead } from '../../helpers/send-head.ts'
import { type Call, type Service, sendRaw, startService } from '../../helpers/service.ts'

/** One request per hour. */
const LIMIT = { requests: 1, window: 3_600_000 }

/** The operations whose messages name one of several plants. */
const LISTS = ['createPlants', 'changePlants']

const name = 'Abies alba Mill.'
const create: Call = { body: { id: 4n, name } }
const batch: Call = { path: '/plants/batch' }
const change = (...body: object[]) => service.call({ method: 'PATCH', path: '/plants', body })

let service: Service
/** The error with which the failing service's store rejects. */
let storeError: Error
let failing: Service

t.before(async () => {
  service = await startService(t)
  await service.call(create)
  failing = await startService(t, { instead: { create: () => Promise.reject(storeError) } })
})

function fail(error: Error) {
  storeError = error
  return failing.call(create)
}

/** Sends the head of a create with these headers, and resolves to the first response. */
async function startCreate({ port, token }: Service, headers: string) {
  const head = `POST /plants HTTP/1.1\r\nAuthorization: Bearer ${token}\r\n${headers}\r\n\r\n`
  return (await sendRaw(port, head, false))[0]
}

interface ErrorExample {
  readonly error: number
  readonly message: string
}

/** For each error code, a request that causes exactly the error in its example. Lists have examples of their own. */
const PRODUCE: Readonly<Record<string, (t: Test) => Promise<Answer | undefined>>> = {
  'invalid-json': () => service.call({ body: '{"id":4,}' }),
  'invalid-body': () => service.call({ body: { id: 'four', name } }),
  'invalid-body of createPlants': () =>
    service.call({ ...batch, body: [...Array(17).fill({ id: 1n, name }), { id: 'four', name }] }),
  'repeated-id': () => service.call({ ...batch, body: [create.body, { id: 4n, name: 'Acer' }] }),
  'invalid-body of changePlants': () => change({ op: 'update', id: 4n, name: 4 }),
  'repeated-id of changePlants': () => change({ op: 'remove', id: 4n }, { op: 'remove', id: 4n }),
  'malformed-request': () => startCreate(service, 'Host: x\r\nHost: y\r\nConnection: close'),
  'invalid-parameter': () => service.call({ method: 'GET', path: '/plants/four' }),
  'cursor-malformed': () => service.call({ method: 'GET', path: '/changes?after=x' }),
  'cursor-expired': async (t) => {
    const cursor = await latestCursor(await startService(t))
    return service.call({ method: 'GET', path: `/changes?after=${cursor}` })
  },
  'id-mismatch': () => service.call({ method: 'PUT', path: '/plants/4', body: { id: 5n, name } }),
  'token-missing': () => service.call({ ...create, token: null }),
  'token-invalid': () => service.call({ ...create, token: 'wrong' }),
  'insufficient-scope': async () =>
    service.call({ ...create, token: await service.issueToken('reader', ['read']) }),
  'read-only-mirror': async (t) => {
    const mirror = await startService(t)
    await makeMirror(mirror.store)
    return mirror.call(create)
  },
  'unknown-path': () => service.call({ path: '/plant' }),
  'plant-not-found': () => service.call({ method: 'GET', path: '/plants/5' }),
  'plant-not-found of changePlants': () => change({ op: 'update', id: 5n, name }),
  'method-not-allowed': () => service.call({ method: 'DELETE' }),
  'request-timeout': async (t) => {
    const slow = await startService(t, { config: { requestTimeout: 50 } })
    return startCreate(slow, 'Host: x\r\nContent-Type: application/json\r\nContent-Length: 9')
  },
  'plant-exists': () => service.call({ body: { id: 4n, name: 'Acer' } }),
  'plant-exists of changePlants': () => change({ op: 'create', id: 4n, name: 'Acer' }),
  'plant-exists of createPlants': () =>
    service.call({
      ...batch,
      body: [
        { id: 1n, name },
        { id: 4n, name: 'Acer' },
      ],
    }),
  'plant-changed': () =>
    service.call({ method: 'GET', path: '/plants/4', headers: { 'if-match': '"other"' } }),
  'plant-changed of changePlants': () => change({ op: 'remove', id: 4n, ifMatch: '"other"' }),
  'body-too-large': () => service.call({ body: { id: 5n, name: 'x'.repeat(2 ** 20) } }),
  'changes-too-large': async (t) => {
    const full = await startService(t)
    // Together with what the removals read, they exceed 8 MiB.
    const ids = [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n]
    for (const id of ids) await full.call({ body: { id, name: 'x'.repeat(2 ** 20 - 100) } })
    const body = ids.map((id) => ({ op: 'remove', id }))
    return full.call({ method: 'PATCH', path: '/plants', body })
  },
  'unsupported-media-type': () =>
    service.call({ ...create, headers: { 'content-type': 'text/plain' } }),
  'unsupported-charset': () =>
    service.call({
      ...create,
      headers: { 'content-type': 'application/json; charset=iso-8859-1' },
    }),
  'unsupported-content-coding': () =>
    service.call({ ...create, headers: { 'content-encoding': 'gzip' } }),
  'misdirected-request': () =>
    sendHead(service, ['GET https://example.org/plants HTTP/1.1', 'Host: x']),
  'too-many-failures': async (t) => {
    const limited = await startService(t, { config: { authFailureLimit: LIMIT } })
    let answer: Answer
    do answer = await limited.call({ ...create, token: 'wrong' })
    while (answer.status === 401)
    return answer
  },
  'too-many-requests': async (t) => {
    const limited = await startService(t, { config: { rateLimit: LIMIT } })
    await limited.call(create)
    return limited.call(create)
  },
  'headers-too-large': () => service.call({ ...create, headers: { 'x-long': 'x'.repeat(20_000) } }),
  'internal-error': () => fail(new TypeError('a bug')),
  'unsupported-transfer-coding': () =>
    service.call({ ...create, headers: { 'transfer-encoding': 'gzip, chunked' } }),
  'store-busy': () => fail(new StoreUnavailable('busy', 'SQLITE_BUSY')),
  'store-unavailable': () => fail(new StoreUnavailable('failing', 'SQLITE_FULL')),
  'service-busy': () => fail(serviceBusy()),
  'issuer-unavailable': async (t) => {
    const issuer = new Issuer(9)
    const signingIn = await startService(t, { config: issuer.config })
    return signingIn.call({ ...create, token: await issuer.sign({}, {}, await newKey()) })
  },
  'unsupported-http-version': () => sendHead(service, ['GET /plants HTTP/2.0', 'Host: x']),
}

/** A message without its variable parts: numbers and the request id. */
function template(message: string, requestId = 'hS0qXv2jQ6k-1a'): string {
  return message.replace(requestId, '<request id>').replace(/\d+(\.\d+)?/g, '<number>')
}

for (const [code, example] of errorExamples()) {
  t.test(`the service sends the example of ${code}`, async (t) => {
    const produce = PRODUCE[code]
    if (produce === undefined) return t.fail('add a request for it to PRODUCE in this file')
    const { body = '{}', headers } = (await produce(t)) ?? {}
    const { error, message } = JSON.parse(body)
    t.equal(error, example.error)
    t.equal(template(message, headers?.['x-request-id']), template(example.message))
  })
}

/** The examples by error code, and by operation too if an operation has another message for the same code. */
function errorExamples(): Map<string, ErrorExample> {
  const found = new Map<string, ErrorExample>()
  const groups = [
    { operationId: '', responses: responsesOutsideOperations() },
    ...operations()
      .map(({ operationId = '', responses }) => ({ operationId, responses }))
      .toSorted((one, other) => LISTS.indexOf(one.operationId) - LISTS.indexOf(other.operationId)),
  ]
  for (const { operationId, responses } of groups) {
    const contents = Object.values(responses).flatMap(({ content = {} }) => Object.values(content))
    for (const [code, { value }] of contents.flatMap(({ examples }) => Object.entries(examples))) {
      if (!isError(value)) continue
      const { message = value.message } = found.get(code) ?? {}
      const isSame = template(message) === template(value.message)
      found.set(isSame ? code : `${code} of ${operationId}`, value)
    }
  }
  return found
}

function isError(value: unknown): value is ErrorExample {
  return typeof value === 'object' && value !== null && 'error' in value
}

t.test('a notice of the store reaches the client, but its other details do not', async (t) => {
  const notice = 'changes must be on 1 standby, but the server waits for 0'
  const { body = '' } = await fail(new StoreUnavailable('failing', 'SQLITE_FULL', notice))
  t.equal(JSON.parse(body).message, `the store is temporarily unavailable: ${notice}`)
})

/** Every status that the contract documents for an operation occurs, with the documented content. */
import { inspect } from 'node:util'
import t from 'tap'
import type { operations } from '../../../contract/api.gen.ts'
import type { OperationId } from '../../../contract/operation-types.ts'
import type { Scope } from '../../../contract/scopes.ts'
import { StoreUnavailable } from '../../../service/plant-store.ts'
import { EXPIRED } from '../../helpers/changes.ts'
import {
  type Answer,
  operations as documentedOperations,
  documentedStatuses,
} from '../../helpers/contract-check.ts'
import { sendHead } from '../../helpers/send-head.ts'
import { type Call, type Service, sendRaw, startService } from '../../helpers/service.ts'
import { PlantModel } from '../../stores/plant-model.ts'

const BODY_LIMIT = 100

let service: Service
let slow: Service
/** Allows each token one request per hour. */
let limited: Service
let failing: Service
/** Its store cannot read tokens. */
let failingTokens: Service
/** The error with which the failing service's store rejects. */
let storeError: Error
const lines: string[] = []
let reader: string
let writer: string

t.before(async () => {
  service = await startService(t, { config: { bodyLimit: BODY_LIMIT } })
  slow = await startService(t, { config: { requestTimeout: 50 } })
  limited = await startService(t, { config: { rateLimit: { requests: 1, window: 3_600_000 } } })
  const fail = () => Promise.reject(storeError)
  // The model has every other method that handlers call.
  const methods = ['readChanges', ...Object.getOwnPropertyNames(PlantModel.prototype)]
  failing = await startService(t, {
    instead: Object.fromEntries(methods.map((name) => [name, fail])),
    logger: { stream: { write: (line) => void lines.push(line) } },
  })
  failingTokens = await startService(t, { instead: { findToken: fail } })
  reader = await service.issueToken('reader', ['read'])
  writer = await service.issueToken('writer', ['write'])
  await service.call({ body: { id: 4n, name: 'Abies alba Mill.', tag: 'Tree' } })
})

const name = 'Abies alba Mill.'
const longName = 'x'.repeat(BODY_LIMIT)
const unknown = { path: '/plants/404' }
const noSuchVersion = { headers: { 'if-match': '"another"' } }

type Produce = () => Promise<Answer | undefined>

/** Statuses that all operations with a scope have. `call` succeeds unless it is changed. */
const ofAny = (call: Call, withoutScope: () => string) => ({
  ...ofAnyToken(call, () => failing),
  403: () => service.call({ ...call, token: withoutScope() }),
})

/** Statuses that all operations have. */
const ofAnyToken = (call: Call, failing: () => Service) => ({
  401: () => service.call({ ...call, token: 'wrong' }),
  408: async () => {
    const head = `${call.method} ${call.path} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n`
    return (await sendRaw(slow.port, head, false))[0]
  },
  421: async () => {
    const target = `https://example.org${call.path}`
    return sendHead(service, [`${call.method} ${target} HTTP/1.1`, 'Host: x'])
  },
  429: async () => {
    await limited.call(call)
    return limited.call(call)
  },
  431: () => service.call({ ...call, headers: { 'x-long': 'x'.repeat(20_000) } }),
  500: () => {
    storeError = new TypeError('a bug')
    return failing().call(call)
  },
  501: () => service.call({ ...call, headers: { 'transfer-encoding': 'gzip, chunked' } }),
  503: () => {
    storeError = new StoreUnavailable('busy', 'SQLITE_BUSY')
    return failing().call(call)
  },
  505: () => sendHead(service, [`${call.method} ${call.path} HTTP/2.0`, 'Host: x']),
})

const ofBody = (call: Call) => ({
  413: () => service.call({ ...call, body: { id: 5n, name: longName } }),
  415: () => service.call({ ...call, headers: { 'content-type': 'text/plain' } }),
})

const ofVersion = (call: Call) => ({
  404: () => service.call({ ...call, ...unknown }),
  412: () => service.call({ ...call, ...noSuchVersion }),
})

const create = { method: 'POST', path: '/plants', body: { id: 1n, name } }
const createMany = { method: 'POST', path: '/plants/batch', body: [{ id: 1n, name }] }
const changeMany = { method: 'PATCH', path: '/plants', body: [{ op: 'update', id: 4n, name }] }
const list = { method: 'GET', path: '/plants' }
const get = { method: 'GET', path: '/plants/4' }
const replace = { method: 'PUT', path: '/plants/4', body: { name } }
const update = { method: 'PATCH', path: '/plants/4', body: { name } }
const remove = { method: 'DELETE', path: '/plants/4' }

const listTags = { method: 'GET', path: '/tags' }
const getToken = { method: 'GET', path: '/token' }
const follow = { method: 'GET', path: '/changes' }

/** A successful call of each operation. */
const CALLS: Readonly<Record<OperationId, Call>> = {
  createPlant: create,
  createPlants: createMany,
  changePlants: changeMany,
  listPlants: list,
  getPlant: get,
  replacePlant: replace,
  updatePlant: update,
  deletePlant: remove,
  listTags,
  getToken,
  listChanges: follow,
}

/** A request for each status of each operation. Does not compile unless it has exactly the contract's statuses. */
const PRODUCE: {
  [Id in OperationId]: { [Status in keyof operations[Id]['responses']]: Produce }
} = {
  createPlant: {
    ...ofAny(create, () => reader),
    ...ofBody(create),
    200: () => service.call(create),
    400: () => service.call({ ...create, body: {} }),
    409: () => service.call({ ...create, body: { id: 4n, name: 'Acer' } }),
  },
  createPlants: {
    ...ofAny(createMany, () => reader),
    ...ofBody(createMany),
    200: () => service.call(createMany),
    400: () => service.call({ ...createMany, body: [] }),
    409: () => service.call({ ...createMany, body: [{ id: 4n, name: 'Acer' }] }),
  },
  changePlants: {
    ...ofAny(changeMany, () => reader),
    ...ofBody(changeMany),
    200: () => service.call(changeMany),
    400: () => service.call({ ...changeMany, body: [] }),
    404: () => service.call({ ...changeMany, body: [{ op: 'update', id: 404n, name }] }),
    409: () => service.call({ ...changeMany, body: [{ op: 'create', id: 4n, name: 'Acer' }] }),
    412: () => service.call({ ...changeMany, body: [{ op: 'remove', id: 4n, ifMatch: '""' }] }),
  },
  listPlants: {
    ...ofAny(list, () => writer),
    200: () => service.call(list),
    400: () => service.call({ ...list, path: '/plants?limit=0' }),
  },
  getPlant: {
    ...ofAny(get, () => writer),
    ...ofVersion(get),
    200: () => service.call(get),
    304: () => service.call({ ...get, headers: { 'if-none-match': '*' } }),
    400: () => service.call({ ...get, path: '/plants/four' }),
  },
  replacePlant: {
    ...ofAny(replace, () => reader),
    ...ofBody(replace),
    ...ofVersion(replace),
    200: () => service.call(replace),
    400: () => service.call({ ...replace, body: {} }),
  },
  updatePlant: {
    ...ofAny(update, () => reader),
    ...ofBody(update),
    ...ofVersion(update),
    200: () => service.call(update),
    400: () => service.call({ ...update, body: { name: null } }),
  },
  deletePlant: {
    ...ofAny(remove, () => reader),
    ...ofVersion(remove),
    204: async () => {
      await service.call({ body: { id: 6n, name } })
      return service.call({ ...remove, path: '/plants/6' })
    },
    400: () => service.call({ ...remove, path: '/plants/four' }),
  },
  listTags: {
    ...ofAny(listTags, () => writer),
    200: () => service.call(listTags),
    400: () => service.call({ ...listTags, path: '/tags?limit=0' }),
  },
  getToken: {
    ...ofAnyToken(getToken, () => failingTokens),
    200: () => service.call({ ...getToken, token: writer }),
    400: () => service.call({ ...getToken, path: '/token?name=reader' }),
  },
  listChanges: {
    ...ofAny(follow, () => writer),
    200: () => service.call(follow),
    400: () => service.call({ ...follow, path: '/changes?after=x' }),
    410: () => service.call({ ...follow, path: `/changes?after=${EXPIRED}` }),
  },
}

for (const { operation, status } of documentedStatuses()) {
  t.test(`${operation} responds with ${status}`, async (t) => {
    const produce: Record<number, Produce> = PRODUCE[operation as OperationId]
    const answer = await produce[status]?.()
    t.equal(answer?.status, status, `PRODUCE.${operation}[${status}] must cause a ${status}`)
  })
}

for (const operation of documentedOperations()) {
  const scopes = [operation['x-scope']].flat().filter((scope) => scope !== 'any') as Scope[]
  const names = `${scopes.join(' and ')} scope${scopes.length === 1 ? '' : 's'}`
  const call = CALLS[operation.operationId as OperationId]
  // HEAD works wherever GET does, and an empty patch also returns the plant.
  const variants: Record<string, Call[]> = {
    GET: [{ ...call, method: 'HEAD' }],
    PATCH: [{ ...call, body: {} }],
  }
  for (const each of [call, ...(variants[String(call.method)] ?? [])]) {
    const body = each.body === undefined ? '' : ` ${inspect(each.body)}`
    t.test(`${each.method} ${each.path}${body} needs the ${names}`, async (t) => {
      for (const token of scopes.map((scope) => (scope === 'read' ? writer : reader))) {
        const answer = await service.call({ ...each, token })
        t.equal(answer.status, 403)
        const challenge = `Bearer realm="plant-store", error="insufficient_scope", scope="${scopes.join(' ')}"`
        t.equal(answer.headers['www-authenticate'], challenge, 'RFC 6750 §3')
        const message = `this operation requires a token with the ${names}`
        if (each.method !== 'HEAD') t.same(answer.json, { error: 40301, message })
      }
    })
  }
}

t.test('an operation needs no other scopes than its own', async (t) => {
  t.equal((await service.call({ ...list, token: reader })).status, 200)
  t.equal((await service.call({ ...get, token: reader })).status, 200)
  t.equal((await service.call({ ...replace, token: writer })).status, 200)
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
  storeError = new TypeError('secret detail at /secret/path')
  const answer = await failing.call(create)
  const id = answer.headers['x-request-id']
  const message = `internal error: look up request ${id} in the service's log`
  t.strictSame(answer.json, { error: 50001, message })
  const logged = lines.map((line) => JSON.parse(line)).findLast(({ level }) => level === 50)
  t.match(logged, { requestId: id, err: { message: /secret detail/ } })
})

t.test('a 503 says when to retry, but not why', async (t) => {
  for (const [reason, error, seconds] of [
    ['busy', 50301, '1'],
    ['failing', 50302, '5'],
  ] as const) {
    storeError = new StoreUnavailable(reason, 'SQLITE_SECRET')
    const answer = await failing.call(create)
    t.match(answer, { status: 503, headers: { 'retry-after': seconds }, json: { error } })
    t.notMatch(answer.body, /SQLITE/)
  }
})

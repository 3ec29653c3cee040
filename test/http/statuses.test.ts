/** Every status that the contract documents for an operation happens, and has the documented form. */
import t from 'tap'
import { StoreUnavailable } from '../../service/plant-store.ts'
import type { operations } from '../../src/contract/api.gen.ts'
import type { OperationId } from '../../src/contract/operations.ts'
import { type Answer, documentedStatuses } from '../helpers/contract-check.ts'
import { type Call, type Service, sendRaw, startService } from '../helpers/service.ts'

const BODY_LIMIT = 100

let service: Service
let slow: Service
let failing: Service
/** What every method of the failing service's store rejects with. */
let trouble: Error
const lines: string[] = []
let reader: string
let writer: string

t.before(async () => {
  service = await startService(t, { config: { bodyLimit: BODY_LIMIT } })
  slow = await startService(t, { config: { requestTimeout: 50 } })
  const fail = () => Promise.reject(trouble)
  failing = await startService(t, {
    instead: { create: fail, get: fail, list: fail, update: fail, remove: fail },
    logger: { stream: { write: (line) => void lines.push(line) } },
  })
  reader = await service.issueToken('reader', ['read'])
  writer = await service.issueToken('writer', ['write'])
  await service.call({ body: { id: 4n, name: 'Abies alba Mill.', tag: 'Tree' } })
})

const name = 'Abies alba Mill.'
const longName = 'x'.repeat(BODY_LIMIT)
const unknown = { path: '/plants/404' }
const noSuchVersion = { headers: { 'if-match': '"another"' } }

type Produce = () => Promise<Answer | undefined>

/** What an operation has in common with others; `call` succeeds, but for what its caller changes. */
const ofAny = (call: Call, withoutScope: () => string) => ({
  401: () => service.call({ ...call, token: 'wrong' }),
  403: () => service.call({ ...call, token: withoutScope() }),
  408: async () => {
    const head = `${call.method} ${call.path} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n`
    return (await sendRaw(slow.port, head, false))[0]
  },
  431: () => service.call({ ...call, headers: { 'x-long': 'x'.repeat(20_000) } }),
  500: () => {
    trouble = new TypeError('a bug')
    return failing.call(call)
  },
  501: () => service.call({ ...call, headers: { 'transfer-encoding': 'gzip, chunked' } }),
  503: () => {
    trouble = new StoreUnavailable('busy', 'SQLITE_BUSY')
    return failing.call(call)
  },
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
const list = { method: 'GET', path: '/plants' }
const get = { method: 'GET', path: '/plants/4' }
const replace = { method: 'PUT', path: '/plants/4', body: { name } }
const update = { method: 'PATCH', path: '/plants/4', body: { name } }
const remove = { method: 'DELETE', path: '/plants/4' }

/** A status that is missing here, or is here and not in the contract, does not compile. */
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
}

for (const { operation, status } of documentedStatuses()) {
  t.test(`${operation} answers ${status}`, async (t) => {
    const produce: Record<number, Produce> = PRODUCE[operation as OperationId]
    t.match(await produce[status]?.(), { status })
  })
}

const BY_SCOPE = {
  read: [list, get, { ...get, method: 'HEAD' }],
  write: [create, replace, update, remove],
}
for (const [scope, calls] of Object.entries(BY_SCOPE)) {
  for (const call of calls) {
    t.test(`${call.method} ${call.path} needs the scope ${scope}`, async (t) => {
      const answer = await service.call({ ...call, token: scope === 'read' ? writer : reader })
      t.equal(answer.status, 403)
      const challenge = `Bearer realm="plant-store", error="insufficient_scope", scope="${scope}"`
      t.equal(answer.headers['www-authenticate'], challenge)
      const message = `this operation needs a token with the scope ${scope}`
      if (call.method !== 'HEAD') t.same(answer.json, { error: 40301, message })
    })
  }
}

t.test('a token with one scope may do what that scope is for', async (t) => {
  t.equal((await service.call({ ...list, token: reader })).status, 200)
  t.equal((await service.call({ ...get, token: reader })).status, 200)
  t.equal((await service.call({ ...update, token: writer })).status, 200)
})

t.test('a defect is told to the log and not to the caller', async (t) => {
  trouble = new TypeError('secret detail at /secret/path')
  const answer = await failing.call(create)
  t.strictSame(answer.json, { error: 50001, message: 'the service failed; its log says more' })
  t.match(lines.join(''), /secret detail/)
})

t.test('503 says when to come back, and not why', async (t) => {
  for (const [reason, error, seconds] of [
    ['busy', 50301, '1'],
    ['failing', 50302, '5'],
  ] as const) {
    trouble = new StoreUnavailable(reason, 'SQLITE_SECRET')
    const answer = await failing.call(create)
    t.match(answer, { status: 503, headers: { 'retry-after': seconds }, json: { error } })
    t.notMatch(answer.body, /SQLITE/)
  }
})

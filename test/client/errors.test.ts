/** The errors for requests that the service rejects, and for responses that violate the contract. */
import t, { type Test } from 'tap'
import {
  createClient,
  isPlantStoreError,
  type PlantStoreClient,
  PlantStoreError,
  ServiceError,
} from '../../client/client.ts'
import type { OperationId } from '../../core/contract/operation-types.ts'
import { errorCodes } from '../../core/generated/error-codes.gen.ts'
import { bundleClient } from '../../tools/build/client-bundle.ts'
import { type Service, startService } from '../helpers/service/service.ts'
import { answered, connectThrough, type Fault, HTML, lost, thrownBy } from './faulty-proxy.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const connect = (t: Test, ...faults: Fault[]) => connectThrough(t, service, faults, { retries: 0 })

const json = (status: number, value: unknown, headers = {}): Fault =>
  answered(status, { 'content-type': 'application/json', ...headers }, JSON.stringify(value))

const notFound = (head: object) => json(404, { error: 40402, message: 'x' }, head)
const changed = (head: object) => json(412, { error: 41201, message: 'x' }, head)

t.test('each error of the contract has its condition, status and number', async (t) => {
  const { client, proxy } = await connect(t)
  for (const [condition, { status, error }] of Object.entries(errorCodes)) {
    // Fetch repeats a request that gets 421 (RFC 9110 §15.5.20).
    proxy.faults = Array(2).fill(json(status, { error, message: 'on purpose' }))
    const thrown = await thrownBy(client.getPlant(1n))
    t.ok(thrown instanceof ServiceError && thrown instanceof PlantStoreError)
    const expected = { condition, status, error, message: 'on purpose', retryAfter: undefined }
    t.match(thrown, { name: 'ServiceError', ...expected })
  }
})

t.test('a Retry-After in seconds is reported, and one with a date is not', async (t) => {
  for (const [header, retryAfter] of [
    ['7', 7],
    [new Date().toUTCString(), undefined],
  ] as const) {
    const busy = { error: 50301, message: 'the store is busy' }
    const { client } = await connect(t, json(503, busy, { 'retry-after': header }))
    const error = await thrownBy(client.getPlant(1n))
    t.match(error, { condition: 'store-busy', message: 'the store is busy', retryAfter })
  }
})

t.test('every error has the X-Request-Id of its response, if there was one', async (t) => {
  const head = { 'x-request-id': 'of the response' }
  const tagged = { ifMatch: '"x"' }
  const cut: Fault = ({ response, cut }) => response.writeHead(200, head).write('[', () => cut())
  const plants = [{ id: 1n, name: 'Abies' }]
  const cases: [name: string, faults: Fault[], call: (client: PlantStoreClient) => unknown][] = [
    ['ServiceError', [notFound(head)], (client) => client.getPlant(1n)],
    ['UnexpectedResponseError', [answered(302, head)], (client) => client.getPlant(1n)],
    ['ConnectionError', [lost, cut], (client) => client.listPlants()],
    ['UnknownOutcomeError', [lost, changed(head)], (client) => client.deletePlant(1n, tagged)],
    ['BatchError', [answered(500, head)], (client) => client.createPlants(plants)],
  ]
  for (const [name, faults, call] of cases) {
    const { client } = await connectThrough(t, service, faults, { retries: faults.length - 1 })
    const error = await thrownBy(Promise.resolve(call(client)))
    t.match(error, { name, requestId: 'of the response' })
    t.ok(error instanceof PlantStoreError)
  }
  const { client } = await connect(t, lost)
  const error = await thrownBy(client.createPlants(plants))
  t.match(error, { requestId: undefined, cause: { requestId: undefined } })
})

t.test('a requestId is that of the service', async (t) => {
  const ids: unknown[] = []
  const { url, token } = service
  const client = createClient({
    url,
    token,
    fetch: async (request) => {
      const response = await fetch(request)
      ids.push(response.headers.get('x-request-id'))
      return response
    },
  })
  const { requestId } = (await thrownBy(client.getPlant(404n))) as PlantStoreError
  t.type(requestId, 'string')
  t.same(ids, [requestId])
})

t.test('isPlantStoreError recognizes the errors of another copy of the client', async (t) => {
  const module = `data:text/javascript,${encodeURIComponent(await bundleClient())}`
  const copy: typeof import('../../client/client.ts') = await import(module)
  const own = await thrownBy(createClient(service).getPlant(404n))
  const other = await thrownBy(copy.createClient(service).getPlant(404n))
  t.notOk(other instanceof PlantStoreError)
  for (const error of [own, other, new copy.ConnectionError('x')]) {
    t.ok(isPlantStoreError(error))
    t.ok(copy.isPlantStoreError(error))
    t.equal(Reflect.get(error as object, Symbol.for('plant-store-client.error')), true)
  }
  t.match(other, { name: 'ServiceError', condition: 'plant-not-found' })
  for (const value of [new Error('x'), new TypeError('x'), { name: 'ServiceError' }, null, 'x']) {
    t.notOk(isPlantStoreError(value))
  }
})

/** A call of each method that sends a request. */
const CALLS = {
  createPlant: (client) => client.createPlant({ id: 1n, name: 'Abies' }),
  createPlants: (client) => causeOf(client.createPlants([{ id: 1n, name: 'Abies' }])),
  changePlants: (client) => client.changePlants([{ op: 'remove', id: 1n }]),
  changePlantsInParts: (client) => causeOf(client.changePlantsInParts([{ op: 'remove', id: 1n }])),
  listPlants: (client) => client.listPlants(),
  plants: (client) => client.plants().next(),
  listTags: (client) => client.listTags(),
  tags: (client) => client.tags().next(),
  getToken: (client) => client.getToken(),
  getPlant: (client) => client.getPlant(1n),
  replacePlant: (client) => client.replacePlant(1n, { name: 'Abies' }),
  updatePlant: (client) => client.updatePlant(1n, {}),
  deletePlant: (client) => client.deletePlant(1n),
  listChanges: (client) => client.listChanges(),
  changes: (client) => client.changes().next(),
} satisfies Record<
  OperationId | 'changePlantsInParts' | 'plants' | 'tags' | 'changes',
  (client: PlantStoreClient) => Promise<unknown>
>

/** Throws the error of the part that failed. */
async function causeOf(result: Promise<unknown>): Promise<never> {
  throw ((await thrownBy(result)) as Error).cause
}

const page = `<html>${'x'.repeat(1000)}`

const elsewhere = 'https://elsewhere/plants'

const UNEXPECTED: readonly (readonly [string, fault: Fault, status: number, end: string])[] = [
  ['an error page', answered(502, HTML, page), 502, `status 502: ${page.slice(0, 200)}`],
  ['a login page', answered(200, HTML, page), 200, page.slice(0, 200)],
  ['an empty success', answered(200), 200, 'status 200'],
  ['an empty failure', answered(500), 500, 'status 500'],
  ['a redirect', answered(301, { location: elsewhere }), 301, `redirect to ${elsewhere}`],
  ...(
    [
      ['an error of a different service', 404, { error: 'not_found', message: 'no such route' }],
      ['an error with an unknown number', 404, { error: 40499, message: 'x' }],
      ['an error without a message', 404, { error: 40402 }],
      ['an error with the number of a different status', 400, { error: 40402, message: 'x' }],
      ['a number', 500, 7],
      ['a failure with null', 500, null],
      ['a success with null', 200, null],
    ] as const
  ).map(
    ([what, status, value]) => [what, json(status, value), status, JSON.stringify(value)] as const,
  ),
]
for (const [what, fault, status, end] of UNEXPECTED) {
  t.test(`${what} is an UnexpectedResponseError`, async (t) => {
    const { client, proxy } = await connect(t, fault)
    const error = (await thrownBy(client.getPlant(1n))) as Error
    t.match(error, { name: 'UnexpectedResponseError', retryAfter: undefined, status })
    t.ok(error.message.startsWith(`unexpected response from ${proxy.url}/plants/1: status `))
    t.ok(error.message.endsWith(`: ${end}`), error.message)
    t.equal(proxy.requests.length, 1, 'the redirect is not followed')
  })
}

t.test('no method takes a page of a proxy, or null, for a result', async (t) => {
  const { client, proxy } = await connect(t)
  for (const [name, call] of Object.entries(CALLS)) {
    for (const fault of [answered(200, HTML, page), json(200, null)]) {
      proxy.faults = [fault]
      t.match(await thrownBy(call(client)), { name: 'UnexpectedResponseError', status: 200 }, name)
    }
  }
})

const stored = { id: 1, name: 'Abies' }
const tag = { etag: '"x"', link: '<?after=x>; rel="next"' }

const INVALID_PLANTS = {
  'not an object': 'Abies',
  'no name': { id: 1 },
  'a name that is not a string': { ...stored, name: 1 },
  'a tag that is not a string': { ...stored, tag: null },
}
const INVALID_STORED_PLANTS = {
  ...INVALID_PLANTS,
  'no id': { name: 'Abies' },
  'an id in quotes': { ...stored, id: '1' },
  'a fraction': { ...stored, id: 1.5 },
  'an id beyond int64': { ...stored, id: 1e19 },
}

const inArrays = (plants: object) =>
  Object.fromEntries(Object.entries(plants).map(([what, plant]) => [what, [stored, plant]]))

const CHANGE = { cursor: 'x', at: 'x', type: 'created', id: 1, plant: { name: 'Abies' } }

/** Contents that violate the contract, for each operation. */
const INVALID_CONTENT: Readonly<Record<OperationId, object>> = {
  createPlant: INVALID_PLANTS,
  createPlants: {
    'not an object': 1,
    'no number of created plants': { replayed: 1 },
    'a number in quotes': { created: 1, replayed: '1' },
  },
  changePlants: {
    'not an object': 1,
    'a count is missing': { created: 1, changed: 1, removed: 1 },
    'a count in quotes': { created: 1, changed: 1, removed: 1, unchanged: '1' },
  },
  getPlant: INVALID_STORED_PLANTS,
  replacePlant: INVALID_STORED_PLANTS,
  updatePlant: INVALID_STORED_PLANTS,
  listPlants: { 'not an array': stored, ...inArrays(INVALID_STORED_PLANTS) },
  deletePlant: { 'a plant': stored },
  listTags: { 'not an array': 'Tree', 'a plant': [stored], 'no tag': ['Tree', null] },
  getToken: {
    'not an object': 'first',
    'no name': { scopes: ['read'] },
    'no scopes': { name: 'first' },
    'one scope': { name: 'first', scopes: 'read' },
    'a scope that is not a string': { name: 'first', scopes: [1] },
    'a time that is not a string': { name: 'first', scopes: ['read'], expiresAt: 1 },
    'a reason that is not a string': { name: 'first', scopes: ['read'], readOnlyReason: true },
  },
  listChanges: {
    'not an array': CHANGE,
    ...Object.fromEntries(
      Object.entries({
        'not an object': 'created',
        'no cursor': { ...CHANGE, cursor: undefined },
        'a time that is not a string': { ...CHANGE, at: 0 },
        'no type': { ...CHANGE, type: undefined },
        'no id': { ...CHANGE, id: undefined },
        'an id in quotes': { ...CHANGE, id: '1' },
        'no plant': { ...CHANGE, plant: undefined },
        'a plant without a name': { ...CHANGE, plant: {} },
        'a removed plant': { ...CHANGE, type: 'removed' },
      }).map(([what, change]) => [what, [CHANGE, change]]),
    ),
  },
}
for (const [name, contents] of Object.entries(INVALID_CONTENT)) {
  t.test(`${name} rejects invalid content`, async (t) => {
    const { client, proxy } = await connect(t)
    for (const [what, content] of Object.entries(contents)) {
      proxy.faults = [json(200, content, tag)]
      const error = await thrownBy(CALLS[name as OperationId](client))
      t.match(error, { name: 'UnexpectedResponseError', status: 200 }, what)
    }
  })
}

t.test('a response without the header that its operation needs is unexpected', async (t) => {
  const { client, proxy } = await connect(t)
  const cases: [call: () => Promise<unknown>, content: unknown, headers?: object][] = [
    [() => client.getPlant(1n), stored],
    [() => client.getPlant(1n), stored, { etag: 'x' }],
    [() => client.updatePlant(1n, {}), stored],
    [() => client.listChanges(), [CHANGE]],
    [() => client.listChanges(), [CHANGE], { link: '<?limit=1>; rel="next"' }],
    [() => client.countPlants(), []],
    [() => client.countPlants(), [], { 'plant-count': 'many' }],
  ]
  for (const [call, content, headers] of cases) {
    proxy.faults = [json(200, content, headers)]
    t.match(await thrownBy(call()), { name: 'UnexpectedResponseError', status: 200 })
  }
})

t.test('a count is read as a structured field (RFC 9651)', async (t) => {
  for (const [value, count] of Object.entries({
    '14283': { plants: 14283, isExact: true },
    '20000;at-least': { plants: 20000, isExact: false },
    '20000; at-least': { plants: 20000, isExact: false },
  })) {
    const { client } = await connect(t, json(200, [], { 'plant-count': value }))
    t.strictSame(await client.countPlants(), count)
  }
})

t.test('a replacement without an entity tag has the etag null, which is no ifMatch', async (t) => {
  const { client } = await connect(t, json(200, stored))
  const { plant, etag } = await client.replacePlant(1n, { name: 'Abies' })
  t.match(plant, { id: 1n })
  t.equal(etag, null)
  const calls = createClient(service)
  // @ts-expect-error null would be ignored
  const error = await thrownBy(calls.replacePlant(1n, { name: 'Abies' }, { ifMatch: etag }))
  t.match(error, { condition: 'invalid-parameter' })
})

t.test('an entity tag that a proxy has changed works in ifMatch', async (t) => {
  for (const [etag, restored] of Object.entries({
    'W/"x"': '"x"',
    '"name=x-gzip"': '"name=x"',
    'W/"name=x-br"': '"name=x"',
  })) {
    const { client } = await connect(t, json(200, stored, { etag }))
    t.equal((await client.getPlant(1n)).etag, restored)
  }
})

t.test('an id is exact in any spelling', async (t) => {
  for (const [text, id] of Object.entries({
    '9007199254740993': 9007199254740993n,
    '-9223372036854775808': -(2n ** 63n),
    '4.0': 4n,
    '9007199254740993.00': 9007199254740993n,
    '9.223372036854775807e18': 2n ** 63n - 1n,
    '-0': 0n,
    '1e2': 100n,
  })) {
    const body = `{"id": ${text}, "name": "${text}", "more": {"number": ${text}}}`
    const { client } = await connect(t, answered(200, tag, body))
    const { plant } = await client.getPlant(1n)
    t.equal(plant.id, id, text)
    const isExact = String(Number(text)) === text || Number.isSafeInteger(Number(text))
    t.match(plant, { name: text, more: { number: isExact ? Number(text) : id } })
  }
})

for (const [link, next] of [
  ['<?after=1>; rel="next"', '?after=1'],
  ['</assets/x.css?1>; rel=preload, <?after=1&x=%22>; rel="next"', '?after=1&x=%22'],
  ['<https://host/elsewhere/plants?after=1>;rel=next', '?after=1'],
  ['<?after=1>; rel="prev"', undefined],
] as const) {
  t.test(`the Link ${link} leads to ${next}`, async (t) => {
    const { client, proxy } = await connect(t, json(200, [stored], { link }))
    const page = await client.listPlants()
    proxy.faults = [json(200, [])]
    t.strictSame(await page.next?.(), next && { plants: [] })
    t.equal(proxy.requests[1]?.line, next && `GET /plants${next}`)
  })
}

/** The errors for requests that the service rejects, and for responses that violate the contract. */
import t, { type Test } from 'tap'
import { createClient, type PlantStoreClient, PlantStoreError } from '../../client/client.ts'
import { errorCodes } from '../../contract/error-codes.gen.ts'
import type { OperationId } from '../../contract/operation-types.ts'
import { type Service, startService } from '../helpers/service.ts'
import { answered, connectThrough, type Fault, HTML, thrownBy } from './faulty-proxy.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const connect = (t: Test, fault: Fault) => connectThrough(t, service, [fault], { retries: 0 })

const json = (status: number, value: unknown, headers = {}): Fault =>
  answered(status, { 'content-type': 'application/json', ...headers }, JSON.stringify(value))

t.test('a rejected request throws the matching error of the contract', async (t) => {
  const { url, token } = service
  const client = createClient(service)
  await client.createPlant({ id: 1n, name: 'Abies' })
  const reader = await service.issueToken('reader', ['read'])
  const large = 'x'.repeat(2 ** 20)
  const calls: [() => Promise<unknown>, keyof typeof errorCodes, string | RegExp][] = [
    [() => client.createPlant({ id: 1n, name: 'Acer' }), 'plant-exists', /^plant 1 already exists/],
    [() => client.getPlant(-1n), 'plant-not-found', 'plant -1 does not exist'],
    [() => client.updatePlant(1n, {}, { ifMatch: '"x"' }), 'plant-changed', /^plant 1 has changed/],
    [() => client.listPlants({ limit: 0 }), 'invalid-parameter', /limit/],
    [() => client.createPlant({ id: 1n, name: large }), 'body-too-large', /1048576 bytes/],
    [() => createClient({ url, token: '' }).getPlant(1n), 'token-missing', /^missing access token/],
    [
      () => createClient({ url, token: 'x' }).getPlant(1n),
      'token-invalid',
      /^the access token is unknown/,
    ],
    [
      () => createClient({ url, token: reader }).deletePlant(1n),
      'insufficient-scope',
      /write scope/,
    ],
    [() => createClient({ url: `${url}/x`, token }).getPlant(1n), 'unknown-path', /^unknown path/],
  ]
  for (const [call, condition, message] of calls) {
    const error = await thrownBy(call())
    t.ok(error instanceof PlantStoreError)
    t.match(error, { name: 'PlantStoreError', condition, message, ...errorCodes[condition] })
    t.match(error, { retryAfter: undefined })
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

/** A call of each method that sends a request. */
const CALLS = {
  createPlant: (client) => client.createPlant({ id: 1n, name: 'Abies' }),
  createPlants: (client) => causeOf(client.createPlants([{ id: 1n, name: 'Abies' }])),
  changePlants: (client) => client.changePlants([{ op: 'remove', id: 1n }]),
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
  OperationId | 'plants' | 'tags' | 'changes',
  (client: PlantStoreClient) => Promise<unknown>
>

/** Throws the error of the part that failed. */
async function causeOf(result: Promise<unknown>): Promise<never> {
  throw ((await thrownBy(result)) as Error).cause
}

const page = `<html>${'x'.repeat(1000)}`

const UNEXPECTED: Record<string, { fault: Fault; status: number; message: RegExp | string }> = {
  'an error page': {
    fault: answered(502, HTML, page),
    status: 502,
    message: new RegExp(
      `^unexpected response from http://\\S+: status 502: ${page.slice(0, 200)}$`,
    ),
  },
  'a login page': { fault: answered(200, HTML, page), status: 200, message: /: <html>x+$/ },
  'an empty success': { fault: answered(200), status: 200, message: /: status 200$/ },
  'an empty failure': { fault: answered(500), status: 500, message: /: status 500$/ },
  'a redirect': {
    fault: answered(301, { location: 'https://elsewhere/plants' }),
    status: 301,
    message: /: redirect to https:\/\/elsewhere\/plants$/,
  },
  'an error of a different service': {
    fault: json(404, { error: 'not_found', message: 'no such route' }),
    status: 404,
    message: /: {"error":"not_found","message":"no such route"}$/,
  },
  'an error with an unknown number': {
    fault: json(404, { error: 40499, message: 'x' }),
    status: 404,
    message: /: {"error":40499,"message":"x"}$/,
  },
  'an error without a message': {
    fault: json(404, { error: 40402 }),
    status: 404,
    message: /: {"error":40402}$/,
  },
  'an error with the number of a different status': {
    fault: json(400, { error: 40402, message: 'x' }),
    status: 400,
    message: /40402/,
  },
  'a number': { fault: json(500, 7), status: 500, message: /: 7$/ },
  'a failure with null': { fault: json(500, null), status: 500, message: /: null$/ },
  'a success with null': { fault: json(200, null), status: 200, message: /: null$/ },
}
for (const [what, { fault, ...expected }] of Object.entries(UNEXPECTED)) {
  t.test(`${what} is an UnexpectedAnswerError`, async (t) => {
    for (const [name, call] of Object.entries(CALLS)) {
      const { client, proxy } = await connect(t, fault)
      const error = await thrownBy(call(client))
      t.match(error, { name: 'UnexpectedAnswerError', retryAfter: undefined, ...expected }, name)
      t.equal(proxy.requests.length, 1, 'the redirect is not followed')
    }
  })
}

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
    for (const [what, content] of Object.entries(contents)) {
      const { client } = await connect(t, json(200, content, tag))
      const error = await thrownBy(CALLS[name as OperationId](client))
      t.match(error, { name: 'UnexpectedAnswerError', status: 200 }, what)
    }
  })
}

t.test('a plant without an entity tag is an unexpected response', async (t) => {
  for (const call of [CALLS.getPlant, CALLS.updatePlant]) {
    const { client } = await connect(t, json(200, stored))
    t.match(await thrownBy(call(client)), { name: 'UnexpectedAnswerError', status: 200 })
  }
})

t.test('a page of changes without a Link is an unexpected response', async (t) => {
  for (const headers of [{}, { link: '<?limit=1>; rel="next"' }]) {
    const { client } = await connect(t, json(200, [CHANGE], headers))
    const error = await thrownBy(client.listChanges())
    t.match(error, { name: 'UnexpectedAnswerError', status: 200 })
  }
})

t.test('a count without a Plant-Count is an unexpected response', async (t) => {
  for (const headers of [{}, { 'plant-count': 'many' }]) {
    const { client } = await connect(t, json(200, [], headers))
    const error = await thrownBy(client.countPlants())
    t.match(error, { name: 'UnexpectedAnswerError', status: 200 })
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

t.test('a response whose entity tag is malformed is unexpected', async (t) => {
  const { client } = await connect(t, json(200, stored, { etag: 'x' }))
  await t.rejects(client.getPlant(1n), { name: 'UnexpectedAnswerError' })
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

/** The package's client survives every failure that is temporary. ../client/ tests what it throws for all others. */
import t, { type Test } from 'tap'
import { type ClientOptions, createClient } from '../../client/client.ts'
import { loadContract } from '../../core/contract/contract.ts'
import type { OperationId } from '../../core/contract/operation-types.ts'
import { type ErrorCode, errorCodes } from '../../core/generated/error-codes.gen.ts'
import { keysOf, known } from '../../core/known.ts'
import { documentedErrors } from '../../src/faults/documented-errors.ts'
import type { Fault } from '../../src/faults/fault.ts'
import { OPERATIONS } from '../client/operation-calls.ts'
import { createIn } from '../helpers/plants/single-changes.ts'
import { type FaultyService, startFaulty } from './faulty-service.ts'

const CODES = documentedErrors(loadContract())

const isTemporary = (code: ErrorCode) => [429, 503].includes(errorCodes[code].status)

let faulty: FaultyService

t.before(async () => {
  faulty = await startFaulty(t)
})

let latest = 0n
const tokens = new Map<string, Promise<string>>()

/** The id of a plant for an operation, which is stored unless the operation creates it. */
async function plantFor(operation: OperationId): Promise<bigint> {
  const id = ++latest
  const plant = { id, name: 'before', tag: 'Tree' }
  if (!operation.startsWith('create')) await createIn(faulty.service.store, plant)
  return id
}

/** A client with a token of its own, so that faults and requests can be told apart. */
async function connect(token: string, options: Partial<ClientOptions> = {}) {
  const issued = tokens.get(token) ?? faulty.service.issueToken(token, ['read', 'write'])
  tokens.set(token, issued)
  return createClient({ url: faulty.service.url, token: await issued, retryDelay: 1, ...options })
}

/** Makes the first request of a client fail, and asserts that the call succeeds nevertheless. */
async function recovers(
  t: Test,
  operation: OperationId,
  token: string,
  options?: Partial<ClientOptions>,
): Promise<void> {
  const [call, result, stored] = OPERATIONS[operation]
  const id = await plantFor(operation)
  const what = `${operation}: ${token}`
  t.strictSame(await call(await connect(token, options), id), result(id), what)
  t.strictSame(await faulty.service.stored(id), stored && { id, ...stored }, what)
}

function failedRequests(): number {
  return faulty.injection.requests.filter(({ fault }) => fault !== undefined).length
}

t.test('every error that is temporary is retried after Retry-After', async (t) => {
  const { injection } = faulty
  const cases = keysOf(OPERATIONS).map((operation, index) => {
    const errors = [...known(CODES.get(operation)).keys()].filter(isTemporary)
    const isOnlyHere = (code: ErrorCode) =>
      [...CODES.values()].filter((codes) => codes.has(code)).length === 1
    const error = errors.find(isOnlyHere) ?? known(errors[index % errors.length])
    return { operation, token: error, error, first: 1, retryAfter: 1 }
  })
  const temporary = keysOf(errorCodes).filter(isTemporary)
  t.same(new Set(cases.map(({ error }) => error)), new Set(temporary))
  injection.setFaults(cases)
  await Promise.all(cases.map(({ operation, token }) => recovers(t, operation, token)))
  t.equal(failedRequests(), cases.length)
  t.equal(injection.requests.length, 2 * cases.length)
})

const LOST: readonly Pick<Fault, 'cut' | 'reset' | 'delayMs' | 'delay' | 'dripMs'>[] = [
  { cut: 'before-work' },
  { cut: 'before-response' },
  { cut: 'in-body' },
  { cut: 'before-work', reset: true },
  { cut: 'before-response', reset: true },
  { cut: 'in-body', reset: true },
  { dripMs: 600_000 },
  { delayMs: 600_000, delay: 'before-work' },
  { delayMs: 600_000, delay: 'before-response' },
]

for (const lost of LOST) {
  t.test(`every operation recovers from ${JSON.stringify(lost)}`, async (t) => {
    const { injection } = faulty
    const needsBody = lost.cut === 'in-body' || lost.dripMs !== undefined
    const operations = keysOf(OPERATIONS).filter(
      (operation) => operation !== 'deletePlant' || !needsBody,
    )
    injection.setFaults(operations.map((operation) => ({ operation, first: 1, ...lost })))
    injection.clearRequests()
    const timeout = lost.cut === undefined ? 300 : 30_000
    await Promise.all(operations.map((each) => recovers(t, each, 'any', { timeout })))
    t.equal(failedRequests(), operations.length)
    if (lost.cut !== undefined) t.equal(injection.requests.length, 2 * operations.length)
  })
}

t.test('a read recovers from a body that is cut in a character', async (t) => {
  const { injection, service } = faulty
  const id = ++latest
  await createIn(service.store, { id, name: 'Käfer', tag: undefined })
  injection.setFaults([{ operation: 'getPlant', first: 1, cut: 'in-character' }])
  injection.clearRequests()
  const client = await connect('any')
  t.equal((await client.getPlant(id)).plant.name, 'Käfer')
  t.equal(injection.requests.length, 2)
})

t.test('a page in HTML is retried if its status says so, and is an error otherwise', async (t) => {
  const { injection } = faulty
  const id = await plantFor('getPlant')
  const client = await connect('any')
  injection.setFaults([{ error: 'store-busy', retryAfter: 1, first: 1, body: 'html' }])
  t.equal((await client.getPlant(id)).plant.id, id)
  injection.setFaults([{ body: 'html' }])
  await t.rejects(client.getPlant(id), { name: 'UnexpectedResponseError', status: 200 })
})

t.test('changes resumes without missing or repeating any, whatever fails', async (t) => {
  const { injection, service } = faulty
  const failures: Fault[] = [
    { cut: 'before-work' },
    { cut: 'before-response' },
    { cut: 'in-body' },
    ...[1, 2, 3].map((events): Fault => ({ cut: 'after-events', events })),
    { error: 'store-busy' },
    { error: 'too-many-requests', delayMs: 10 },
  ]
  const operation = 'listChanges'
  // The first request is not one of those that are repeated until they succeed.
  injection.setFaults(failures.map((fault, index) => ({ operation, nth: index + 3, ...fault })))
  const client = await connect('follower', { retries: 0 })
  const { cursor: after } = await client.listChanges({ after: 'latest' })
  const ids = Array.from({ length: 30 }, (_, index) => latest + BigInt(index + 1))
  latest += 30n
  for (const id of ids) await createIn(service.store, { id, name: 'x', tag: undefined })
  const received: bigint[] = []
  injection.clearRequests()
  for await (const { id } of client.changes({ after, pageSize: 3 })) {
    received.push(id)
    if (received.length === ids.length) break
  }
  t.same(received, ids)
  t.equal(failedRequests(), failures.length)
})

/** Which faults are accepted, and why others are not. */
import t from 'tap'
import { loadContract } from '../../core/contract/contract.ts'
import type { Fault } from '../../src/faults/fault.ts'
import { FaultInjection } from '../../src/faults/fault-injection.ts'

const contract = loadContract()
const injection = new FaultInjection(contract)
const operations = Object.values(contract.paths).flatMap((item) =>
  Object.values(item).map(({ operationId }) => operationId),
)

const COUNT = 'must be an int32 from 1 to 1000000'
const cut = 'before-work'
const ANY_ERROR =
  'must be malformed-request, invalid-parameter, token-missing, token-invalid, request-timeout, misdirected-request, too-many-failures, too-many-requests, headers-too-large, internal-error, unsupported-transfer-coding, store-busy, store-unavailable, service-busy, issuer-unavailable or unsupported-http-version without an operation'
const TOKEN_ERROR = ANY_ERROR.replace('without an operation', 'for getToken')

const REFUSED: readonly [fault: object, problem: string][] = [
  [{ cut, when: 1 }, " must not have the property 'when'"],
  [{ cut, name: '' }, '/name must have 1 or more characters'],
  [{ cut, name: 'x'.repeat(257) }, '/name must have 256 or fewer characters'],
  [{ cut, id: 2n ** 63n }, '/id must be an int64'],
  ...['nth', 'every', 'first', 'events'].flatMap((count) =>
    [0, 1.5, 1_000_001, '1'].map((value): [object, string] => [
      { cut, [count]: value },
      `/${count} ${COUNT}`,
    ]),
  ),
  [{ cut, probability: 1.01 }, '/probability must be a number from 0 to 1'],
  [{ cut, probability: -1 }, '/probability must be a number from 0 to 1'],
  [{ cut, probability: 1, seed: 2 ** 31 }, '/seed must be an int32 from 0 to 2147483647'],
  [{ delayMs: 600_001 }, '/delayMs must be an int32 from 1 to 600000'],
  [{ delayMs: 1, delay: 'after' }, '/delay must be before-work or before-response'],
  [
    { cut: 'later' },
    '/cut must be before-work, before-response, in-body, in-character or after-events',
  ],
  [{ dripMs: 0 }, '/dripMs must be an int32 from 1 to 600000'],
  [{ body: 'xml' }, '/body must be html'],
  [{ cut, reset: 1 }, '/reset must be boolean'],
  [{}, ' must have error, delayMs, dripMs, body or cut'],
  [{ operation: 'createPlant', nth: 1 }, ' must have error, delayMs, dripMs, body or cut'],
  [{ cut, nth: 1, first: 1 }, ' must not have both nth and first'],
  [{ cut, every: 1, probability: 1 }, ' must not have both every and probability'],
  [{ cut, error: 'store-busy' }, ' must not have both error and cut'],
  [{ cut, dripMs: 1 }, ' must not have both dripMs and cut'],
  [{ cut, body: 'html' }, ' must not have both body and cut'],
  [{ reset: true, error: 'store-busy' }, '/reset requires cut'],
  [{ cut, seed: 1 }, '/seed requires probability'],
  [{ cut, delay: 'before-work' }, '/delay requires delayMs'],
  [{ cut, retryAfter: 1 }, '/retryAfter requires error'],
  [
    { error: 'store-busy', delayMs: 1, delay: 'before-response' },
    '/delay must be before-work, because store-busy precedes the work',
  ],
  [
    { cut, delayMs: 1, delay: 'before-response' },
    '/delay must be before-work, because the cut precedes the work',
  ],
  [{ operation: 'listChanges', cut: 'after-events' }, ' must have events if cut is after-events'],
  [{ cut, events: 1 }, ' must have cut: after-events to have events'],
  [{ cut: 'after-events', events: 1 }, '/cut can be after-events only if operation is listChanges'],
  [
    { operation: 'listPlants', cut: 'after-events', events: 1 },
    '/cut can be after-events only if operation is listChanges',
  ],
  ...[{ cut: 'in-body' }, { cut: 'in-character' }, { dripMs: 1 }, { body: 'html' }].map(
    (effect): [object, string] => [
      { operation: 'deletePlant', ...effect },
      ' must not affect the body, because a response to deletePlant has none',
    ],
  ),
  [
    { cut, operation: 'createPlan' },
    `/operation must be ${operations.slice(0, -1).join(', ')} or ${operations.at(-1)}`,
  ],
  [{ error: 'plant-exists' }, `/error ${ANY_ERROR}`],
  [{ error: 'busy' }, `/error ${ANY_ERROR}`],
  [{ operation: 'getToken', error: 'cursor-expired' }, `/error ${TOKEN_ERROR}`],
  [
    { operation: 'getPlant', error: 'plant-not-found', retryAfter: 1 },
    '/retryAfter requires an error with the status 429 or 503',
  ],
  [{ error: 'store-busy', retryAfter: 0 }, '/retryAfter must be an int32 from 1 to 3600'],
]

const inspect = (value: unknown) =>
  JSON.stringify(value, (_name, member) => (typeof member === 'bigint' ? `${member}n` : member))

for (const [fault, problem] of REFUSED) {
  t.test(`${inspect(fault).slice(0, 80)}: ${problem}`, async (t) => {
    const faults = [{ cut }, fault] as readonly Fault[]
    t.throws(() => injection.setFaults(faults), { message: `faults/1${problem}` })
  })
}

const operation = 'listChanges'

const ACCEPTED: readonly Fault[] = [
  { delayMs: 600_000 },
  { delayMs: 1, delay: 'before-response' },
  { delayMs: 1, delay: 'before-response', cut: 'before-response' },
  { delayMs: 1, delay: 'before-work', error: 'store-busy' },
  { cut: 'in-body' },
  { operation, cut: 'in-body' },
  { cut: 'in-character', reset: true },
  { cut: 'before-work', reset: false },
  { dripMs: 600_000, body: 'html', delayMs: 1, error: 'store-busy' },
  { operation: 'deletePlant', body: 'html', dripMs: 1, error: 'store-busy' },
  { operation, cut: 'after-events', events: 1_000_000 },
  { operation, error: 'cursor-expired' },
  { operation: 'deletePlant', cut: 'before-response' },
  { operation: 'createPlant', error: 'plant-exists' },
  { error: 'too-many-requests', retryAfter: 3600 },
  { error: 'service-busy', retryAfter: 1 },
  { error: 'internal-error', probability: 0.5, seed: 2 ** 31 - 1 },
  {
    error: 'store-busy',
    name: 'x'.repeat(256),
    token: 'importer',
    id: -(2n ** 63n),
    nth: 1_000_000,
  },
]

t.test('what is documented and does not contradict itself is accepted', async (t) => {
  injection.setFaults(ACCEPTED)
  t.same(injection.faults, ACCEPTED)
})

t.test('faults are at most 100 in an array', async (t) => {
  const fault: Fault = { cut }
  injection.setFaults(Array(100).fill(fault))
  t.equal(injection.faults.length, 100)
  const tooMany = Array(101).fill(fault)
  t.throws(() => injection.setFaults(tooMany), { message: 'faults must have 100 or fewer items' })
  t.throws(() => injection.setFaultsJson('{"cut":"in-body"}'), { message: 'faults must be array' })
  t.throws(() => injection.setFaultsJson('[5]'), { message: 'faults/0 must be object' })
  t.equal(injection.faults.length, 100, 'the former ones are still in effect')
})

t.test('ids in JSON are exact, and those beyond int64 are refused', async (t) => {
  injection.setFaultsJson('[{"id": 9223372036854775807, "cut": "in-body", "probability": 0.25}]')
  t.same(injection.faults, [{ id: 2n ** 63n - 1n, cut: 'in-body', probability: 0.25 }])
  for (const id of ['9223372036854775808', '1.5', '1e400', '"4"']) {
    const json = `[{"id": ${id}, "cut": "in-body"}]`
    t.throws(() => injection.setFaultsJson(json), { message: 'faults/0/id must be an int64' })
  }
})

t.test('what is not JSON is refused', async (t) => {
  t.throws(() => injection.setFaultsJson('[{}'), { message: /^faults are not valid JSON: .+/ })
})

t.test('changing a fault afterwards has no effect, and the given one is not changed', async (t) => {
  const fault = { id: 4 as unknown as bigint, error: 'store-busy' as const }
  injection.setFaults([fault])
  t.same(fault, { id: 4, error: 'store-busy' })
  fault.id = 5n
  t.same(injection.faults, [{ id: 4n, error: 'store-busy' }])
})

/** Which requests a fault applies to. */
import t from 'tap'
import { propertiesOf } from '../../core/known.ts'
import type { Fault } from '../../src/faults/fault.ts'
import type { Call, Service } from '../helpers/service/service.ts'
import {
  CALLS,
  create,
  type FaultyService,
  get,
  list,
  name,
  startFaulty,
} from './faulty-service.ts'

let faulty: FaultyService

t.before(async () => {
  faulty = await startFaulty(t)
})

const BUSY = { error: 'store-busy' } as const

/** Which of some calls fail, one after another. */
async function failing(faults: readonly Fault[], calls: readonly Call[]): Promise<boolean[]> {
  const { service, injection } = faulty
  injection.setFaults(faults)
  const failed: boolean[] = []
  for (const call of calls) failed.push((await service.call(call)).status === 503)
  return failed
}

/** The numbers, from 1, of the lists that fail, of 12. */
async function failingLists(fault: Fault): Promise<number[]> {
  const failed = await failing([fault], Array(12).fill(list))
  return failed.flatMap((isFailed, index) => (isFailed ? [index + 1] : []))
}

const ALL = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]

t.test('without a condition, a fault applies to every request, until it is removed', async (t) => {
  t.same(await failingLists(BUSY), ALL)
  t.same(await failing([], [list]), [false])
})

t.test('a fault can apply to the nth request, to every nth, or to the first n', async (t) => {
  t.same(await failingLists({ ...BUSY, nth: 3 }), [3])
  t.same(await failingLists({ ...BUSY, every: 5 }), [5, 10])
  t.same(await failingLists({ ...BUSY, first: 2 }), [1, 2])
})

t.test('a probability gives the same run for the same seed', async (t) => {
  const fault = { ...BUSY, probability: 0.5 }
  const run = [1, 2, 6, 7, 8, 11, 12]
  t.same(await failingLists({ ...fault, seed: 7 }), run)
  t.same(await failingLists({ ...fault, seed: 7 }), run)
  t.strictNotSame(await failingLists({ ...fault, seed: 8 }), run)
  t.same(await failingLists(fault), await failingLists({ ...fault, seed: 0 }))
  t.same(await failingLists({ ...BUSY, probability: 0 }), [])
  t.same(await failingLists({ ...BUSY, probability: 1 }), ALL)
})

t.test('faults without a seed do not choose the same requests', async (t) => {
  const { service, injection } = faulty
  injection.setFaults([
    { ...BUSY, probability: 0.5 },
    { ...BUSY, probability: 0.5 },
  ])
  injection.clearRequests()
  for (let count = 0; count < 12; count++) await service.call(list)
  const chosen = new Set(injection.requests.map(({ fault }) => fault))
  t.same([...chosen].toSorted(), [0, 1, undefined])
})

t.test('a fault can be limited to an operation; HEAD counts as GET', async (t) => {
  const calls = [list, get, { ...list, method: 'HEAD' }, create, CALLS.createPlants]
  const fault: Fault = { ...BUSY, operation: 'listPlants' }
  t.same(await failing([fault], calls), [true, false, true, false, false])
})

t.test('a fault can be limited to a token', async (t) => {
  const token = await faulty.service.issueToken('importer', ['read', 'write'])
  const calls = [list, { ...list, token }, { ...create, token }]
  t.same(await failing([{ ...BUSY, token: 'importer' }], calls), [false, true, true])
})

t.test('a fault can be limited to a plant, wherever the request has its id', async (t) => {
  const id = 2n ** 53n + 1n
  const others: Call[] = [
    list,
    get,
    create,
    { method: 'GET', path: `/plants/${id - 1n}` },
    { method: 'GET', path: `/plants?id=4&id=${id - 1n}` },
    { method: 'GET', path: `/plants?after=${id}` },
    { path: '/plants/batch', body: [{ id: id + 1n, name }] },
  ]
  const calls: Call[] = [
    { method: 'GET', path: `/plants/${id}` },
    { method: 'DELETE', path: `/plants/${id}` },
    { method: 'PUT', path: `/plants/${id}`, body: { name } },
    { method: 'GET', path: `/plants?id=${id}` },
    { method: 'GET', path: `/plants?id=4&id=${id}` },
    { body: { id, name } },
    {
      path: '/plants/batch',
      body: [
        { id: 4n, name },
        { id, name },
      ],
    },
    { method: 'PATCH', body: [{ op: 'remove', id }] },
  ]
  const fault = { ...BUSY, id }
  t.same(await failing([fault], others), Array(others.length).fill(false))
  t.same(await failing([fault], calls), Array(calls.length).fill(true))
})

t.test('a fault counts only what matches, and also where an earlier fault applies', async (t) => {
  const faults: Fault[] = [
    { operation: 'listPlants', nth: 2, error: 'service-busy' },
    { operation: 'listPlants', nth: 3, error: 'store-unavailable' },
    { nth: 4, error: 'store-busy' },
  ]
  const { service, injection } = faulty
  injection.setFaults(faults)
  const errors: unknown[] = []
  for (const call of [list, CALLS.getToken, list, list, list]) {
    const { json } = await service.call(call)
    errors.push(propertiesOf(json).error)
  }
  t.same(errors, [undefined, undefined, 50303, 50302, undefined])
})

t.test('of several faults that apply, the first takes effect', async (t) => {
  const { service, injection } = faulty
  injection.setFaults([
    { nth: 2, ...BUSY },
    { name: 'second', error: 'service-busy' },
    { error: 'internal-error' },
  ])
  injection.clearRequests()
  for (let count = 0; count < 2; count++) await service.call(list)
  t.same(
    injection.requests.map(({ fault }) => fault),
    ['second', 0],
  )
})

t.test('a fault counts the requests to which an earlier one applies', async (t) => {
  const { service, injection } = faulty
  injection.setFaults([
    { first: 1, ...BUSY },
    { first: 3, ...BUSY },
  ])
  injection.clearRequests()
  for (let count = 0; count < 4; count++) await service.call(list)
  t.same(
    injection.requests.map(({ fault }) => fault),
    [0, 1, 1, undefined],
  )
})

t.test('a request that is refused before has its own error, and does not count', async (t) => {
  const { service, injection } = faulty
  injection.setFaults([{ nth: 1, ...BUSY }])
  const refused: [Call, number][] = [
    [{ ...list, token: null }, 401],
    [{ ...list, path: '/plants?limit=0' }, 400],
    [{ ...create, body: { id: 4n } }, 400],
    [{ ...create, headers: { 'content-type': 'text/plain' } }, 415],
    [{ ...list, path: '/plant' }, 404],
  ]
  for (const [call, status] of refused) t.equal((await service.call(call)).status, status)
  t.equal((await service.call(list)).status, 503)
})

t.test('faults that replace others count from 1', async (t) => {
  const fault = { nth: 2, ...BUSY }
  t.same(await failing([fault], [list]), [false])
  t.same(await failing([fault], [list, list]), [false, true])
})

t.test('Retry-After can be chosen', async (t) => {
  const { service, injection } = faulty
  const retryAfterOf = async (service: Service) => (await service.call(list)).headers['retry-after']
  injection.setFaults([{ ...BUSY, retryAfter: 7 }])
  t.equal(await retryAfterOf(service), '7')
  injection.setFaults([{ error: 'too-many-requests', retryAfter: 60 }])
  t.equal(await retryAfterOf(service), '60')
})

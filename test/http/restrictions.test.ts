import t, { type Test } from 'tap'
import { type Restriction, restrict } from '../../service/restriction.ts'
import { CALLS } from '../faults/faulty-service.ts'
import { createIn } from '../helpers/plants/single-changes.ts'
import { BEGUN, CONSISTENT, COPIED, makeMirror } from '../helpers/service/mirrors.ts'
import { type Call, type Service, startService } from '../helpers/service/service.ts'

const name = 'Abies alba Mill.'
const create: Call = { body: { id: 5n, name } }

/** Starts a service on a restricted database with the plant 4. */
async function startRestricted(t: Test, restriction: Restriction): Promise<Service> {
  const service = await startService(t)
  const plant = { id: 4n, name }
  if (restriction === 'frozen') {
    await createIn(service.store, plant)
    await restrict(service.store, { expected: undefined, next: 'frozen' })
  } else {
    await makeMirror(service.store, restriction, [plant])
  }
  return service
}

const unavailable = (reason: string) => ({
  status: 503,
  headers: { 'retry-after': '5' },
  json: { error: 50302, message: `the store is temporarily unavailable: ${reason}` },
})
const FROZEN = unavailable('changes are frozen while the plants move to another database')
const INCOMPLETE = unavailable('it is still copying the plants of https://plants.example')
const READ_ONLY = {
  status: 403,
  headers: { 'www-authenticate': undefined },
  json: {
    error: 40302,
    message: 'this service is a read-only mirror: send changes to https://plants.example',
  },
}

const CASES: readonly [what: string, Restriction, read: object, change: object][] = [
  ['a frozen database', 'frozen', { status: 200 }, FROZEN],
  ['a mirror', CONSISTENT, { status: 200 }, READ_ONLY],
  ['a mirror that has copied nothing', BEGUN, INCOMPLETE, READ_ONLY],
  ['a mirror that is not yet consistent', COPIED, INCOMPLETE, READ_ONLY],
]
for (const [what, restriction, read, change] of CASES) {
  t.test(`${what} serves or rejects each operation as documented`, async (t) => {
    const service = await startRestricted(t, restriction)
    for (const [operation, call] of Object.entries(CALLS)) {
      const answer = await service.call(call)
      t.match(answer, call.method === 'GET' ? read : change, operation)
      if (call.method !== 'GET') continue
      const head = await service.call({ ...call, method: 'HEAD' })
      t.match(head, { status: answer.status, body: '' }, `HEAD of ${operation}`)
    }
    if (restriction !== 'frozen') {
      await restrict(service.store, { expected: restriction, next: undefined })
    }
    t.same(await service.store.get(4n), { id: 4n, name }, 'nothing has changed')
    t.equal(await service.count(), 1)
  })
}

t.test('a mirror is ready and readable at the same moment', async (t) => {
  const service = await startRestricted(t, BEGUN)
  const reader = await service.issueToken('reader', ['read'])
  const cases: [Call, number][] = [
    [{ token: null }, 40101],
    [{ token: 'wrong' }, 40102],
    [{ token: reader }, 40301],
    [{ path: '/plant' }, 40401],
    [{ method: 'DELETE', path: '/plants' }, 40501],
  ]
  for (const [call, error] of cases) {
    t.match(await service.call(call), { json: { error } }, 'checked before the restriction')
  }
  const calls = [{ method: 'GET' }, { method: 'GET', path: '/health/ready', token: null }]
  const statuses = async () => {
    const answers = await Promise.all(calls.map((call) => service.call(call)))
    return answers.map(({ status }) => status)
  }
  t.strictSame(await statuses(), [503, 503])
  await restrict(service.store, { expected: BEGUN, next: CONSISTENT })
  t.strictSame(await statuses(), [200, 200])
})

t.test('an invalid change is rejected as such', async (t) => {
  const service = await startRestricted(t, CONSISTENT)
  t.match(await service.call({ body: { id: 'x' } }), { status: 400, json: { error: 40002 } })
})

t.test('a service follows at once when a mirror begins and ends', async (t) => {
  const service = await startService(t)
  t.equal((await service.call({ method: 'GET' })).status, 200)
  await makeMirror(service.store)
  t.equal((await service.call(create)).status, 403)
  await restrict(service.store, { expected: CONSISTENT, next: undefined })
  t.equal((await service.call(create)).status, 200)
})

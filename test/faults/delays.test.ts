/** Requests that are delayed. */
import t from 'tap'
import type { Fault } from '../../src/faults/fault.ts'
import { openConnection } from '../helpers/network/connection.ts'
import { EventStream } from '../helpers/network/event-stream.ts'
import { until } from '../helpers/processes/until.ts'
import type { Call } from '../helpers/service/service.ts'
import {
  create,
  type FaultyService,
  follow,
  get,
  list,
  name,
  startFaulty,
  toRequest,
} from './faulty-service.ts'

const DELAY_MS = 100

let faulty: FaultyService
t.before(async () => {
  faulty = await startFaulty(t)
})

/** Sets the faults of the service that the tests share. */
function setFaults(...faults: Fault[]): FaultyService {
  faulty.injection.setFaults(faults)
  faulty.injection.clearRequests()
  return faulty
}

/** Longer than any test takes. */
const NEVER = 600_000

const FAULTS: readonly [Fault, Call, status: number][] = [
  [{ delayMs: DELAY_MS }, list, 200],
  [{ delayMs: DELAY_MS, delay: 'before-work' }, create, 200],
  [{ delayMs: DELAY_MS, delay: 'before-response' }, list, 200],
  [{ delayMs: DELAY_MS, delay: 'before-response' }, { ...get, path: '/plants/404' }, 404],
  [{ delayMs: DELAY_MS, error: 'store-busy' }, list, 503],
  [{ delayMs: DELAY_MS, delay: 'before-response' }, { ...follow, method: 'HEAD' }, 200],
]

for (const [fault, call, status] of FAULTS) {
  t.test(`${JSON.stringify(fault)} delays a ${status}`, async (t) => {
    const { service } = setFaults(fault)
    const begun = performance.now()
    t.equal((await service.call(call)).status, status)
    // Timers have whole milliseconds.
    t.ok(performance.now() - begun > DELAY_MS - 1)
  })
}

for (const delay of ['before-work', 'before-response'] as const) {
  t.test(`a stream is delayed ${delay}`, async (t) => {
    const { service } = setFaults({ delayMs: DELAY_MS, delay })
    const begun = performance.now()
    const stream = await EventStream.open(t, service)
    t.ok(performance.now() - begun > DELAY_MS - 1)
    stream.close()
  })
}

for (const delay of ['before-work', 'before-response'] as const) {
  t.test(`a create that is delayed ${delay}; the delay ends when the service stops`, async (t) => {
    const fault: Fault = { operation: 'createPlant', delayMs: NEVER, delay }
    const { service, injection } = await startFaulty(t, [fault])
    const answer = service.call(create)
    await until('the fault takes effect', () => injection.requests[0]?.fault === 0)
    if (delay === 'before-work') t.equal((await service.call(get)).status, 404)
    else await until('the plant is stored', async () => (await service.call(get)).status === 200)
    await service.close()
    t.equal((await answer).status, 200)
    t.equal(await service.count(), 1)
  })
}

t.test('a delayed response is sent once', async (t) => {
  const problems: string[] = []
  const stream = { write: (line: string) => void problems.push(line) }
  const fault: Fault = { delayMs: DELAY_MS, delay: 'before-response' }
  const { service } = await startFaulty(t, [fault], { logger: { level: 'error', stream } })
  t.equal((await service.call(list)).status, 200)
  await service.close()
  t.same(problems, [])
})

t.test('a cut can be delayed', async (t) => {
  const delay = 'before-response'
  const { service } = setFaults({
    operation: 'createPlant',
    delayMs: DELAY_MS,
    delay,
    cut: delay,
  })
  const begun = performance.now()
  await t.rejects(service.call({ body: { id: 5n, name } }), { code: 'ECONNRESET' })
  t.ok(performance.now() - begun > DELAY_MS - 1)
  t.ok(await service.stored(5n))
})

t.test('delayed work is done although its client has gone', async (t) => {
  const { service, injection } = setFaults(
    { operation: 'createPlant', delayMs: DELAY_MS },
    { operation: 'listPlants', delayMs: DELAY_MS, error: 'store-busy' },
  )
  const body = { id: 6n, name }
  for (const call of [{ body }, list]) {
    const socket = openConnection(t, service)
    socket.write(toRequest(call, service.token))
    await until('it arrives', () => injection.requests.at(-1)?.fault !== undefined)
    socket.destroy()
  }
  await until('the plant is stored', async () => (await service.stored(body.id)) !== undefined)
})

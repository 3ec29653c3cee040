/** Requests that are delayed. */
import t from 'tap'
import type { Fault } from '../../src/faults/fault.ts'
import { openConnection } from '../helpers/connection.ts'
import { EventStream } from '../helpers/event-stream.ts'
import type { Call } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'
import { create, follow, get, list, startFaulty, toRequest } from './faulty-service.ts'

const DELAY_MS = 100

/** Longer than any test takes. */
const NEVER = 600_000

const FAULTS: readonly [Fault, Call, status: number][] = [
  [{ delayMs: DELAY_MS }, list, 200],
  [{ delayMs: DELAY_MS, delay: 'before-work' }, create, 200],
  [{ delayMs: DELAY_MS, delay: 'before-response' }, list, 200],
  [{ delayMs: DELAY_MS, delay: 'before-response' }, get, 404],
  [{ delayMs: DELAY_MS, error: 'store-busy' }, list, 503],
  [{ delayMs: DELAY_MS, delay: 'before-response' }, { ...follow, method: 'HEAD' }, 200],
]

for (const [fault, call, status] of FAULTS) {
  t.test(`${JSON.stringify(fault)} delays a ${status}`, async (t) => {
    const { service } = await startFaulty(t, [fault])
    const begun = performance.now()
    t.equal((await service.call(call)).status, status)
    // Timers have whole milliseconds.
    t.ok(performance.now() - begun > DELAY_MS - 1)
  })
}

for (const delay of ['before-work', 'before-response'] as const) {
  t.test(`a stream is delayed ${delay}`, async (t) => {
    const { service } = await startFaulty(t, [{ delayMs: DELAY_MS, delay }])
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

t.test('a cut can be delayed', async (t) => {
  const { service } = await startFaulty(t, [
    {
      operation: 'createPlant',
      delayMs: DELAY_MS,
      delay: 'before-response',
      cut: 'before-response',
    },
  ])
  const begun = performance.now()
  await t.rejects(service.call(create), { code: 'ECONNRESET' })
  t.ok(performance.now() - begun > DELAY_MS - 1)
  t.equal(await service.count(), 1)
})

t.test('delayed work is done although its client has gone', async (t) => {
  const { service, injection } = await startFaulty(t, [
    { operation: 'createPlant', delayMs: DELAY_MS },
    { operation: 'listPlants', delayMs: DELAY_MS, error: 'store-busy' },
  ])
  for (const call of [create, list]) {
    const socket = openConnection(t, service)
    socket.write(toRequest(call, service.token))
    await until('it arrives', () => injection.requests.at(-1)?.fault !== undefined)
    socket.destroy()
  }
  await until('the plant is stored', async () => (await service.call(get)).status === 200)
})

/** What is recorded about requests. */
import { once } from 'node:events'
import t from 'tap'
import { EventStream } from '../helpers/network/event-stream.ts'
import { halfACreate } from '../helpers/service/client.ts'
import {
  create,
  type FaultyService,
  get,
  list,
  name,
  startFaulty,
  withoutTime,
} from './faulty-service.ts'

const token = 'test'

let faulty: FaultyService
t.before(async () => {
  faulty = await startFaulty(t)
})
t.beforeEach(() => {
  faulty.injection.setFaults([])
  faulty.injection.clearRequests()
})

t.test('requests are recorded in the order in which they arrive', async (t) => {
  const { service, injection } = faulty
  injection.setFaults([{ name: 'busy', operation: 'getPlant', error: 'store-busy' }])
  const before = Date.now()
  const id = 2n ** 63n - 1n
  await service.call(create)
  await service.call({
    path: '/plants/batch?',
    body: [
      { id: 4n, name },
      { id, name },
    ],
  })
  await service.call(get)
  await service.call({ ...list, method: 'HEAD', path: '/plants?q=secret' })
  t.same(injection.requests.map(withoutTime), [
    { method: 'POST', path: '/plants', operation: 'createPlant', token, status: 200, ids: [4n] },
    {
      method: 'POST',
      path: '/plants/batch',
      operation: 'createPlants',
      token,
      status: 200,
      ids: [4n, id],
    },
    {
      method: 'GET',
      path: '/plants/4',
      operation: 'getPlant',
      token,
      status: 503,
      fault: 'busy',
      ids: [4n],
    },
    { method: 'HEAD', path: '/plants', operation: 'listPlants', token, status: 200, ids: [] },
  ])
  const times = injection.requests.map(({ at }) => Date.parse(at))
  t.same(times, times.toSorted())
  t.ok(times.every((time) => time >= before && time <= Date.now()))
})

t.test('requests that are refused are recorded, and those without a token are not', async (t) => {
  const { service, injection } = faulty
  await service.call({ ...list, token: 'unknown-token-unknown' })
  await service.call({ ...list, path: '/plant' })
  await service.call({ method: 'DELETE' })
  await service.call({ ...create, body: { id: 4n } })
  await service.call({ method: 'GET', path: '/health/ready', token: null })
  t.same(injection.requests.map(withoutTime), [
    { method: 'GET', path: '/plants', operation: 'listPlants', status: 401, ids: [] },
    { method: 'GET', path: '/plant', token, status: 404, ids: [] },
    { method: 'DELETE', path: '/plants', token, status: 405, ids: [] },
    { method: 'POST', path: '/plants', operation: 'createPlant', token, status: 400, ids: [] },
  ])
  t.notMatch(JSON.stringify(injection.requests.map(withoutTime)[0]), /unknown-token/)
})

t.test('a request without a response has no status', async (t) => {
  const { service, injection } = faulty
  injection.setFaults([{ operation: 'createPlant', cut: 'before-response' }])
  await t.rejects(service.call(create), { code: 'ECONNRESET' })
  const record = { method: 'POST', path: '/plants', operation: 'createPlant', token, ids: [4n] }
  t.same(injection.requests.map(withoutTime), [{ ...record, fault: 0 }])
  injection.setFaults([])
  injection.clearRequests()
  const { socket, answers, rest } = await halfACreate(service.url, service.token, { id: 4, name })
  t.same(injection.requests.map(withoutTime), [{ ...record, ids: [] }], 'while it arrives')
  socket.write(rest)
  await once(socket, 'data')
  t.same(injection.requests.map(withoutTime), [{ ...record, status: 200 }])
  socket.end()
  await answers
})

t.test('the status of a stream is known while it is open', async (t) => {
  const { service, injection } = faulty
  const stream = await EventStream.open(t, service)
  const record = { method: 'GET', path: '/changes', operation: 'listChanges', token, ids: [] }
  t.same(injection.requests.map(withoutTime), [{ ...record, status: 200 }])
  stream.close()
})

t.test('records can be cleared, also while a request arrives', async (t) => {
  const { service, injection } = faulty
  const { socket, answers, rest } = await halfACreate(service.url, service.token, { id: 4, name })
  injection.clearRequests()
  t.same(injection.requests, [])
  socket.end(rest)
  t.match(await answers, [{ status: 200 }])
  t.same(injection.requests, [])
})

t.test('only the latest requests are kept', async (t) => {
  const limits = { requestsMax: 3, bytesMax: 2 ** 20 }
  const { service, injection } = await startFaulty(t, [], { limits })
  for (const id of [1, 2, 3, 4, 5]) await service.call({ ...get, path: `/plants/${id}` })
  t.same(
    injection.requests.map(({ ids }) => ids),
    [[3n], [4n], [5n]],
  )
})

t.test('fewer are kept if their paths or ids are long', async (t) => {
  const limits = { requestsMax: 100, bytesMax: 10_000 }
  const { service, injection } = await startFaulty(t, [], { limits })
  const paths = () => injection.requests.map(({ path }) => path.slice(0, 4))
  for (let count = 0; count < 4; count++) {
    await service.call({ ...list, path: `/${count}/${'x'.repeat(3000)}` })
  }
  t.same(paths(), ['/1/x', '/2/x', '/3/x'])
  const body = Array.from({ length: 200 }, (_, index) => ({ id: BigInt(index), name }))
  await service.call({ path: '/plants/batch', body })
  t.same(paths(), ['/3/x', '/pla'])
  injection.clearRequests()
  for (let count = 0; count < 4; count++) {
    await service.call({ ...list, path: `/${count}/${'x'.repeat(3000)}` })
  }
  t.same(paths(), ['/1/x', '/2/x', '/3/x'], 'the memory of others is free again')
})

import { setTimeout } from 'node:timers/promises'
import type { MetricValueWithName } from '@prometheus-io/client'
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../service/store/plant-store.ts'
import { RequestMetrics } from '../../src/observing/request-metrics.ts'
import { formatHead, openConnection } from '../helpers/network/connection.ts'
import { EventStream } from '../helpers/network/event-stream.ts'
import { freezeClock } from '../helpers/processes/frozen-clock.ts'
import {
  expireRequests,
  readAll,
  type Service,
  type StartOptions,
  startService,
} from '../helpers/service/service.ts'
import { startWaitingService } from '../helpers/service/waiting-service.ts'

const FIR = { id: 1, name: 'Abies alba Mill.' }

const DURATION = 'http_server_request_duration_seconds'

/** Starts a service that measures its requests. */
function startMeasured(t: Test, options: StartOptions = {}): Promise<Service> {
  return startService(t, { ...options, requestMetrics: new RequestMetrics() })
}

/** The series of a name that are not 0. */
async function seriesOf({ app }: Service, series: string) {
  const metrics = (await app.requestMetrics?.registry.getMetricsAsJSON()) ?? []
  return metrics.flatMap(({ name, values }) =>
    (values as MetricValueWithName<string>[]).filter(
      ({ metricName = name, value }) => metricName === series && value > 0,
    ),
  )
}

/** The number of requests by method, route and status, once there are `total`. */
async function countsOf(service: Service, total: number): Promise<Record<string, number>> {
  for (;;) {
    const series = await seriesOf(service, `${DURATION}_count`)
    const counted = series.reduce((sum, { value }) => sum + value, 0)
    if (counted >= total) {
      return Object.fromEntries(
        series.map(({ labels, value }) => [
          `${labels.http_request_method} ${labels.http_route} ${labels.http_response_status_code}`,
          value,
        ]),
      )
    }
    // A request counts once its response is closed, which can be after the client has received it.
    await setTimeout(5)
  }
}

/** The sum of the durations of all requests. */
async function durationOf(service: Service): Promise<number> {
  const sums = await seriesOf(service, `${DURATION}_sum`)
  return sums.reduce((sum, { value }) => sum + value, 0)
}

/** The number of requests without a complete head by the status of their error. */
async function malformedOf(service: Service): Promise<Record<string, number>> {
  const series = await seriesOf(service, 'plant_store_malformed_requests_total')
  return Object.fromEntries(
    series.map(({ labels, value }) => [String(labels.http_response_status_code), value]),
  )
}

t.test(
  'requests count by method, route and status, and without a route without their path',
  async (t) => {
    const service = await startMeasured(t)
    const calls = [
      { body: FIR },
      { body: FIR },
      { body: { ...FIR, name: 'other' } },
      { path: '/plants/batch', body: [FIR] },
      { method: 'PATCH', body: [{ op: 'remove', id: 2n }] },
      { method: 'GET', path: '/plants/1' },
      { method: 'HEAD', path: '/plants/1?x=1' },
      { method: 'GET', path: '/plants/2' },
      { method: 'PATCH', path: '/plants/1', body: { tag: 'Tree' } },
      { method: 'DELETE', path: '/plants/1' },
      { method: 'GET', token: null },
      { method: 'GET', path: '/health/live', token: null },
      { method: 'GET', path: '/documentation/json', token: null },
      { method: 'GET', path: '/documentation', token: null },
      { method: 'GET', path: '/unknown/path' },
      { method: 'GET', path: '/__proto__' },
      { method: 'GET', path: '/plants/%zz' },
      { method: 'POST', path: '/plants/1' },
      { method: 'PUT', path: '/plants/batch' },
      { method: 'OPTIONS', path: '/plants' },
      { method: 'TRACE', path: '/plants' },
      { method: 'M-SEARCH', path: '/plants' },
    ]
    for (const call of calls) await service.call(call)
    t.same(await countsOf(service, calls.length), {
      'POST /plants 200': 2,
      'POST /plants 409': 1,
      'POST /plants/batch 200': 1,
      'PATCH /plants 200': 1,
      'GET /plants/{id} 200': 1,
      'HEAD /plants/{id} 400': 1,
      'GET /plants/{id} 404': 1,
      'PATCH /plants/{id} 200': 1,
      'DELETE /plants/{id} 204': 1,
      'GET /plants 401': 1,
      'GET /health/live 200': 1,
      'GET /documentation/json 200': 1,
      'GET /documentation 200': 1,
      'GET  404': 2,
      'GET  400': 1,
      'POST  405': 1,
      'PUT  405': 1,
      'OPTIONS  204': 1,
      '_OTHER  405': 2,
    })
  },
)

t.test('a duration is measured in seconds', async (t) => {
  const service = await startMeasured(t, { instead: { get: () => setTimeout(50, undefined) } })
  const start = performance.now()
  await service.call({ method: 'GET', path: '/plants/1' })
  const total = (performance.now() - start) / 1000
  await countsOf(service, 1)
  const sum = await durationOf(service)
  t.ok(sum >= 0.02 && sum <= total, `${sum} of ${total}`)
})

t.test('errors count by their code', async (t) => {
  const service = await startMeasured(t, {
    config: {
      rateLimit: { requests: 2, window: 3_600_000 },
      authFailureLimit: { requests: 1, window: 3_600_000 },
    },
    instead: {
      get: () => Promise.reject(new StoreUnavailable('failing', 'SQLITE_FULL')),
      list: () => Promise.reject(new StoreUnavailable('busy', 'SQLITE_BUSY')),
    },
  })
  const calls = [
    { path: '/plants', token: null },
    { path: '/plants' },
    { path: '/plants/1' },
    { path: '/plants' },
    { path: '/plants' },
    // Ten failures are allowed at once, of which the request without a token is one.
    ...Array(12).fill({ path: '/plants', token: 'an-unknown-token' }),
  ]
  for (const call of calls) await service.call({ method: 'GET', ...call })
  const reasonsOf = async (name: string) =>
    (await seriesOf(service, name)).map(({ labels, value }) => [labels.reason, value])
  t.same(await reasonsOf('plant_store_rejected_tokens_total'), [[undefined, 9]])
  t.same(await reasonsOf('plant_store_limited_requests_total'), [
    ['too-many-failures', 3],
    ['too-many-requests', 2],
  ])
  t.same(await reasonsOf('plant_store_shed_requests_total'), [
    ['store-busy', 1],
    ['store-unavailable', 1],
  ])
})

t.test('malformed heads count separately, because they have no duration', async (t) => {
  const service = await startMeasured(t)
  for (const head of ['\0\r\n\r\n', `GET / HTTP/1.1\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`]) {
    const socket = openConnection(t, service)
    socket.write(head)
    await readAll(socket)
  }
  const unknown = openConnection(t, service)
  unknown.write(formatHead(service, 'PRI *', 'Connection: close\r\n'))
  await readAll(unknown)
  t.same(await countsOf(service, 0), {})
  const late = openConnection(t, service)
  late.write(`${formatHead(service, 'GET /plants')}\0\r\n\r\n`)
  await readAll(late)
  t.same(await countsOf(service, 1), { 'GET /plants 200': 1 }, 'the request before it')
  t.same(await malformedOf(service), { 400: 3, 431: 1 })
})

t.test('a head that does not arrive in time counts as malformed', async (t) => {
  const service = await startMeasured(t, { config: { requestTimeout: 100 } })
  const socket = openConnection(t, service)
  socket.write('GET /plants HTTP/1.1\r\n')
  t.match(String(await readAll(socket)), /^HTTP\/1.1 408 /)
  t.same(await malformedOf(service), { 408: 1 })
})

t.test('a body that does not arrive in time counts toward its route', async (t) => {
  const service = await startMeasured(t)
  service.app.server.once('request', () => expireRequests(service))
  const socket = openConnection(t, service)
  const body = 'Content-Type: application/json\r\nContent-Length: 10\r\n'
  socket.write(formatHead(service, 'POST /plants', body))
  t.match(String(await readAll(socket)), /^HTTP\/1.1 408 /)
  t.same(await countsOf(service, 1), { 'POST /plants 408': 1 })
})

t.test('a request whose client disconnects counts without a status', async (t) => {
  const asked = Promise.withResolvers<void>()
  const found = Promise.withResolvers<undefined>()
  const get = () => {
    asked.resolve()
    return found.promise
  }
  const service = await startMeasured(t, { instead: { get } })
  const socket = openConnection(t, service)
  socket.write(formatHead(service, 'GET /plants/1'))
  await asked.promise
  // Half-closing the connection would not abort the request.
  socket.resetAndDestroy()
  t.same(await countsOf(service, 1), { 'GET /plants/{id} ': 1 })
  found.resolve(undefined)
})

t.test('a pipelined request counts as one without a response', async (t) => {
  const service = await startMeasured(t)
  const socket = openConnection(t, service)
  socket.end(formatHead(service, 'GET /plants/1').repeat(10))
  await readAll(socket)
  t.same(await countsOf(service, 2), { 'GET /plants/{id} 404': 1, 'GET  ': 1 })
})

t.test('without metrics nothing is measured', async (t) => {
  const [measured, other] = [await startMeasured(t), await startService(t)]
  t.equal(other.app.requestMetrics, undefined)
  const listeners = ({ app }: Service) => app.server.listenerCount('request')
  t.equal(listeners(other), listeners(measured) - 1)
  const socket = openConnection(t, other)
  socket.write('\0\r\n\r\n')
  t.match(String(await readAll(socket)), /^HTTP\/1.1 400 /)
})

t.test('the time in which a request waits for changes does not count', async (t) => {
  const { service, isWaiting } = await startWaitingService(t, {
    requestMetrics: new RequestMetrics(),
  })
  const pass = freezeClock(t)
  const poll = service.call({ method: 'GET', path: '/changes?after=latest&wait=60' })
  await isWaiting()
  pass(30_000)
  await service.call({ body: FIR })
  await poll
  t.match(await countsOf(service, 2), { 'GET /changes 200': 1 })
  t.equal(await durationOf(service), 0)
})

t.test('a stream counts until it begins, regardless of which side ends it', async (t) => {
  const { service, isWaiting } = await startWaitingService(t, {
    requestMetrics: new RequestMetrics(),
  })
  const pass = freezeClock(t)
  for (const count of [1, 2]) {
    const stream = await EventStream.open(t, service)
    await isWaiting()
    pass(30_000)
    if (count === 1) stream.close()
    else await service.close()
    t.same(await countsOf(service, count), { 'GET /changes 200': count })
  }
  t.equal(await durationOf(service), 0)
})

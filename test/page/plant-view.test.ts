/** The list of a view, as it loads plants from a service and follows its changes. */

import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createClient } from '../../client/client.ts'
import type { ListQuery } from '../../page/list/filter.ts'
import type { Surroundings } from '../../page/list/live-feed.ts'
import { PlantView, type ViewOptions } from '../../page/list/plant-view.ts'
import {
  answered,
  busy,
  type Fault,
  type FaultyProxy,
  lost,
  passed,
  startFaultyProxy,
} from '../client/faulty-proxy.ts'
import { importPlants } from '../helpers/plants/import-plants.ts'
import { type Service, startService } from '../helpers/service/service.ts'

const ALL: ListQuery = { filter: {} }

/** Nobody hides the page, and it does not wait. */
const surroundings: Surroundings = {
  visible: () => Promise.resolve(),
  offline: () => new AbortController().signal,
  pause: () => setImmediate(),
}

interface Options extends Partial<ViewOptions> {
  readonly faults?: Fault[]
  readonly token?: string
}

/** Opens a view that shows the first 20 rows. It closes when the test ends. */
async function open(t: Test, service: Service, { faults, token, ...options }: Options = {}) {
  const proxy = await startFaultyProxy(t, service, faults)
  const connection = { url: proxy.url, token: token ?? service.token, retries: 0 }
  const view = new PlantView({
    client: createClient(connection),
    feedClient: createClient(connection),
    surroundings,
    query: ALL,
    onChange: () => false,
    ...options,
  })
  t.teardown(() => view.close())
  view.load(0, 20)
  const following = view.follow()
  return { view, proxy, following }
}

/** Resolves once the view is as described. */
function until(view: PlantView, condition: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (!condition()) return
      stop()
      resolve()
    }
    const stop = view.subscribe(check)
    check()
  })
}

let shared: Service
/** Has more plants than one request of a search examines. Each test changes others of them. */
let long: Service
t.before(async () => {
  shared = await startService(t)
  long = await start(t, 20_500, 8)
})

/** A service with these plants only, of which every second, or so, is an Acer. Tests with few of them share it. */
async function start(t: Test, count: number, every = 2): Promise<Service> {
  const service = count < 10 ? shared : await startService(t)
  const plants = Array.from({ length: count }, (_, index) => ({
    id: BigInt(index + 1),
    name: index % every ? 'Abies' : 'Acer',
    tag: 'Tree',
  }))
  const client = createClient(service)
  for await (const { id } of client.plants()) await client.deletePlant(id)
  await importPlants(service.store, plants, 'stop')
  return service
}

const requestsWith = ({ requests }: FaultyProxy, text: string) =>
  requests.filter(({ line }) => line.includes(text)).length

const counts = (proxy: FaultyProxy) => requestsWith(proxy, 'count=true')

const reads = (proxy: FaultyProxy) => requestsWith(proxy, 'GET /plants')

const put = (service: Service, id: number, name: string) =>
  service.call({ method: 'PUT', path: `/plants/${id}`, body: { name } })

t.test('the plants in view are loaded, and some more', async (t) => {
  const service = await start(t, 1000)
  const { view, proxy } = await open(t, service)
  t.ok(view.isOpening)
  await until(view, () => view.list.length > 0 && !view.loader.isLoading)
  t.notOk(view.isOpening)
  t.equal(view.list.length, 400)
  t.match(proxy.requests[0], { line: 'GET /changes?after=latest&limit=200' }, 'the feed first')
  view.load(300, 320)
  await until(view, () => view.list.length === 600 && !view.loader.isLoading)
  view.load(580, 600)
  await until(view, () => view.list.length === 800 && !view.loader.isLoading)
  view.load(780, 800)
  await until(view, () => view.list.isComplete)
  t.equal(view.list.length, 1000)
})

t.test('forgotten plants are loaded again', async (t) => {
  const service = await start(t, 2500)
  const { view } = await open(t, service)
  for (let row = 0; row < 2400; row += 200) {
    view.load(row, row + 20)
    await until(view, () => view.list.length > row + 20 && !view.loader.isLoading)
  }
  t.equal(view.list.find(1n), undefined)
  view.load(0, 20)
  await until(view, () => view.list.find(1n) !== undefined)
  t.equal(view.list.rank(2n), 1)
})

t.test('a search follows the links until it has found enough', async (t) => {
  await put(long, 4, 'a needle')
  await put(long, 20_498, 'a Needle')
  const { view, proxy } = await open(t, long, { query: { filter: { q: 'NEEDLE' } } })
  await until(view, () => view.list.length === 1)
  t.notOk(view.list.isComplete)
  await until(view, () => view.list.isComplete)
  t.equal(view.list.length, 2)
  t.ok(proxy.requests.filter(({ line }) => line.includes('q=NEEDLE')).length >= 2)

  view.reload()
  await until(view, () => view.list.find(20_498n) !== undefined && view.list.find(4n) !== undefined)
  t.equal(view.list.length, 2)
})

t.test('a range in which a search finds nothing any more is searched to its end', async (t) => {
  await put(long, 6, 'a thorn')
  const { view } = await open(t, long, {
    query: { filter: { q: 'thorn' } },
    feedClient: offline(),
  })
  await until(view, () => view.list.isComplete)
  await put(long, 6, 'Abies')
  await put(long, 20_496, 'a thorn')
  view.reload()
  await until(view, () => view.list.isComplete)
  t.equal(view.list.length, 1)
  t.ok(view.list.find(20_496n))
})

/** A client that reaches nothing. */
function offline() {
  return createClient({ url: 'http://127.0.0.1:1', token: 'x', retries: 0 })
}

t.test('another selection stops the previous one', async (t) => {
  const service = await start(t, 500)
  const { view } = await open(t, service)
  view.show({ filter: { q: 'abies' }, first: 100n })
  await until(view, () => view.list.isComplete)
  t.equal(view.list.length, 201)
  t.equal(view.list.slice(0, 1)[0]?.id, 100n)
  t.strictSame(view.query, { filter: { q: 'abies' }, first: 100n })
})

t.test('changes by others appear with a mark, which ends, and own ones have none', async (t) => {
  const service = await start(t, 3)
  const marked = Promise.withResolvers<void>()
  const { view } = await open(t, service, {
    surroundings: { ...surroundings, pause: () => marked.promise },
    onChange: ({ id }) => id === 5n,
    query: { filter: { q: 'A' } },
  })
  await until(view, () => view.list.isComplete)
  await service.call({ body: { id: 5, name: 'Acer of mine' } })
  await until(view, () => view.list.find(5n) !== undefined)
  view.apply({ id: 6n, plant: { name: 'Acer, also mine' } })
  t.equal(view.list.length, 5)
  t.equal(view.marks.size, 0)
  await service.call({ body: { id: 11, name: 'of others' } })
  await service.call({ body: { id: 10, name: 'a new one' } })
  await until(view, () => view.marks.get(10n)?.mark === 'new')
  t.equal(view.marks.has(11n), false, 'it does not match')
  await put(service, 1, 'changed')
  await until(view, () => view.marks.get(1n)?.mark === 'changed')
  t.equal(view.list.find(1n)?.name, 'changed')
  await service.call({ method: 'DELETE', path: '/plants/2' })
  await until(view, () => view.marks.get(2n)?.mark === 'deleted')
  t.ok(view.list.find(2n), 'it is shown while it is marked')
  await service.call({ method: 'DELETE', path: '/plants/3' })
  await until(view, () => view.marks.has(3n))
  await service.call({ body: { id: 3, name: 'Acer', tag: 'Tree' } })
  await until(view, () => view.marks.get(3n)?.mark === 'changed')
  marked.resolve()
  await until(view, () => view.marks.size === 0)
  t.same(
    view.list.slice(0, 9).map((plant) => plant?.id),
    [1n, 3n, 5n, 6n, 10n],
  )
})

t.test('many changes at once have no marks', async (t) => {
  const service = await start(t, 3)
  const { view } = await open(t, service)
  await until(view, () => view.list.isComplete)
  const body = Array.from({ length: 100 }, (_, index) => ({ id: 10 + index, name: 'Acer' }))
  await service.call({ path: '/plants/batch', body })
  await until(view, () => view.list.length === 103)
  t.equal(view.marks.size, 0)
})

t.test('a change during a request is not undone by its response', async (t) => {
  const service = await start(t, 3)
  const read = Promise.withResolvers<void>()
  const proceed = Promise.withResolvers<void>()
  const late: Fault = async ({ forward, response }) => {
    const { status, headers, body } = await forward()
    read.resolve()
    await proceed.promise
    response.writeHead(status, headers).end(body)
  }
  const { view } = await open(t, service, { faults: [passed, late] })
  await read.promise
  view.apply({ id: 1n, plant: { name: 'newer' } })
  view.apply({ id: 2n })
  proceed.resolve()
  await until(view, () => view.list.isComplete)
  t.equal(view.list.find(1n)?.name, 'newer')
  t.equal(view.list.find(2n), undefined)
})

t.test('rows whose plants are gone stay while rows are held', async (t) => {
  const service = await start(t, 4)
  const { view, proxy } = await open(t, service, { query: { filter: { tag: 'Tree' } } })
  await until(view, () => view.list.isComplete)
  t.strictSame(view.total, { plants: 4, isExact: true })
  view.hold(true)
  view.apply({ id: 1n })
  view.apply({ id: 9n })
  t.strictSame(view.total, { plants: 3, isExact: true }, 'the deleted row is still shown')
  t.equal(counts(proxy), 0)
  t.same([...view.marks], [[1n, { mark: 'deleted' }]])
  t.equal(view.news, 0, 'the person knows')
  await service.call({ method: 'DELETE', path: '/plants/1' })
  await service.call({ method: 'DELETE', path: '/plants/2' })
  await put(service, 3, 'untagged')
  await until(view, () => view.marks.size === 3 && view.news === 0)
  t.same(
    [...view.marks],
    [
      [1n, { mark: 'deleted' }],
      [2n, { mark: 'deleted' }],
      [3n, { mark: 'unmatched' }],
    ],
  )
  t.equal(view.list.length, 4)
  view.hold(false)
  t.equal(view.list.length, 1)
  t.equal(view.marks.size, 0)
})

t.test('a row whose plant is added again stays when rows are no longer held', async (t) => {
  const service = await start(t, 3)
  const { view } = await open(t, service)
  await until(view, () => view.list.isComplete)
  view.hold(true)
  view.apply({ id: 1n })
  view.apply({ id: 1n, plant: { name: 'again' } })
  t.equal(view.marks.size, 0)
  view.hold(false)
  t.equal(view.list.find(1n)?.name, 'again')
  view.hold(true)
  view.apply({ id: 3n })
  view.show(ALL)
  t.equal(view.news, 0)
  view.hold(false)
})

t.test('a lost connection is shown, and the view catches up', async (t) => {
  const service = await start(t, 3)
  const paused = Promise.withResolvers<void>()
  const proceed = Promise.withResolvers<void>()
  const { view, proxy } = await open(t, service, {
    faults: [passed, passed, lost],
    surroundings: {
      ...surroundings,
      pause: () => {
        paused.resolve()
        return proceed.promise
      },
    },
  })
  await paused.promise
  t.equal(view.feed.state, 'lost')
  t.match(view.feed.problem, { name: 'ConnectionError' })
  await service.call({ body: { id: 4, name: 'meanwhile' } })
  proceed.resolve()
  await until(view, () => view.list.find(4n) !== undefined)
  t.equal(view.feed.state, 'live')
  t.equal(view.marks.get(4n)?.mark, 'new')
  t.notMatch(proxy.requests[3]?.line, 'wait', 'which is known at once')
})

t.test('a browser that goes offline is shown at once', async (t) => {
  const service = await start(t, 3)
  let offline = new AbortController()
  const online = Promise.withResolvers<void>()
  const { view } = await open(t, service, {
    surroundings: { ...surroundings, offline: () => offline.signal, pause: () => online.promise },
  })
  await until(view, () => view.list.isComplete)
  offline.abort()
  await until(view, () => view.feed.state === 'lost')
  offline = new AbortController()
  online.resolve()
  await until(view, () => view.feed.state === 'live')
})

t.test('what could not be loaded is loaded once the connection is back', async (t) => {
  const service = await start(t, 3)
  const { view } = await open(t, service, { faults: [passed, lost, lost] })
  await until(view, () => view.loader.problem !== undefined)
  t.notOk(view.isOpening)
  view.load(0, 10)
  await until(view, () => view.list.isComplete)
  t.equal(view.loader.problem, undefined)
})

t.test('the service counts the plants of a long list, again after changes', async (t) => {
  const service = await start(t, 1000)
  let isLost = false
  const fault: Fault = (exchange) => {
    if (isLost || !exchange.line.includes('count=true')) return passed(exchange)
    isLost = true
    return lost(exchange)
  }
  const { view, proxy } = await open(t, service, { faults: Array(10).fill(fault) })
  await until(view, () => view.total?.plants === 1000)
  t.same(view.total, { plants: 1000, isExact: true })
  t.equal(counts(proxy), 2, 'the first one was lost')
  await service.call({ method: 'DELETE', path: '/plants/1000' })
  await until(view, () => view.total?.plants === 999)
  const body = Array.from({ length: 500 }, (_, index) => ({ id: 2000 + index, name: 'Acer' }))
  await service.call({ path: '/plants/batch', body })
  await until(view, () => view.total?.plants === 1499)
  view.show({ filter: view.query.filter, first: 2400n })
  t.equal(view.total?.plants, 1499, 'it does not depend on where the list begins')
  await until(view, () => view.list.isComplete)
  t.equal(view.total?.plants, 1499)
  view.show({ filter: { tag: 'Tree' } })
  t.equal(view.total, undefined)
  await until(view, () => view.total?.plants === 999)
})

t.test('a count that is too high for the service is a lower bound', async (t) => {
  const { view } = await open(t, long, { query: { filter: { q: 'a' } } })
  await until(view, () => view.total !== undefined)
  t.match(view.total, { isExact: false })
  t.ok((view.total?.plants ?? 0) >= 20_000)
  view.show({ filter: { q: 'acer' } })
  for (let row = 0; row < 2563; row += 200) {
    view.load(row, row + 20)
    await until(view, () => view.list.length > row + 20 || view.list.isComplete)
    await until(view, () => !view.loader.isLoading)
  }
  t.strictSame(view.total, { plants: 2563, isExact: true }, 'the list has shown all of them')
  await put(long, 2, 'acer')
  await put(long, 9, 'abies')
  await until(view, () => view.total?.isExact === false)
  t.ok((view.total?.plants ?? 0) <= 2563)
})

t.test('what the service refuses is not requested again', async (t) => {
  const service = await start(t, 3)
  const { view, proxy } = await open(t, service, { query: { filter: { q: 'x'.repeat(101) } } })
  await until(view, () => view.loader.problem !== undefined && view.feed.state === 'live')
  await setImmediate()
  view.load(0, 10)
  t.notOk(view.loader.isLoading)
  t.equal(reads(proxy), 1)
  view.loader.retry()
  t.ok(view.loader.isLoading)
  view.loader.retry()
})

t.test('another selection is not affected by a failure of the previous one', async (t) => {
  const service = await start(t, 3)
  const paused = Promise.withResolvers<void>()
  const { view } = await open(t, service, {
    faults: [passed, lost],
    surroundings: { ...surroundings, pause: () => paused.promise },
  })
  await until(view, () => view.loader.problem !== undefined)
  view.show({ filter: { q: 'abies' } })
  const { loader } = view
  paused.resolve()
  await until(view, () => view.list.isComplete)
  t.equal(view.loader, loader)
})

t.test('plants are shown even if the feed fails', async (t) => {
  const service = await start(t, 3)
  const unavailable = answered(...busy)
  const { view } = await open(t, service, { faults: [unavailable, passed, unavailable] })
  await until(view, () => view.list.isComplete)
  await until(view, () => view.feed.state === 'live')
})

t.test('if changes were missed, the plants are loaded again', async (t) => {
  const service = await start(t, 3)
  const expired = answered(
    410,
    { 'content-type': 'application/json' },
    '{"error":41001,"message":"expired"}',
  )
  const { view } = await open(t, service, { faults: [passed, passed, expired] })
  const { loader } = view
  await until(view, () => view.loader !== loader && view.list.isComplete)
  t.equal(view.feed.state, 'live')
})

t.test('an error of the page is not mistaken for a failure of the feed', async (t) => {
  const service = await start(t, 3)
  const { view, following } = await open(t, service, {
    onChange: () => {
      throw new Error('a bug')
    },
  })
  const ended = t.rejects(following, { message: 'a bug' })
  await until(view, () => view.list.isComplete)
  await put(service, 1, 'changed')
  await ended
})

t.test('what could not be loaded is requested once if a person tries again first', async (t) => {
  const service = await start(t, 3)
  const pause = Promise.withResolvers<void>()
  const { view, proxy } = await open(t, service, {
    faults: [passed, lost],
    surroundings: { ...surroundings, pause: () => pause.promise },
  })
  await until(view, () => view.loader.problem !== undefined)
  view.loader.retry()
  await until(view, () => view.list.isComplete)
  t.equal(view.loader.problem, undefined)
  pause.resolve()
  await setImmediate()
  t.notOk(view.loader.isLoading)
  t.equal(reads(proxy), 2)
})

t.test('a hidden page stops, and catches up when it is visible', async (t) => {
  const service = await start(t, 3)
  let visible = Promise.resolve()
  const { view } = await open(t, service, {
    surroundings: { ...surroundings, visible: () => visible },
  })
  await until(view, () => view.list.isComplete)
  const shown = Promise.withResolvers<void>()
  visible = shown.promise
  await put(service, 1, 'first')
  await until(view, () => view.list.find(1n)?.name === 'first')
  await put(service, 1, 'second')
  shown.resolve()
  await until(view, () => view.list.find(1n)?.name === 'second')
})

t.test('a closed view stops', async (t) => {
  const service = await start(t, 3)
  const { view, following } = await open(t, service)
  view.close()
  await following
  t.equal(view.list.length, 0)
})

t.test('a view that is paused follows no changes, and then loads what it shows', async (t) => {
  const service = await start(t, 3)
  const { view, proxy } = await open(t, service)
  await until(view, () => view.feed.state === 'live' && view.list.isComplete)
  const [resume, resumeToo] = [view.pause(), view.pause()]
  proxy.requests.length = 0
  await put(service, 1, 'Betula')
  resume()
  t.same(proxy.requests, [], 'another run lasts')
  resumeToo()
  await until(view, () => view.list.find(1n)?.name === 'Betula')
  t.match(proxy.requests[0], { line: /^GET \/changes\?after=latest/ })
  t.equal(view.news, 0)
})

t.test('a view without a feed loads what it shows after a pause', async (t) => {
  const service = await start(t, 3)
  const { view } = await open(t, service, { feedClient: offline() })
  await until(view, () => view.list.length === 3)
  const resume = view.pause()
  await put(service, 1, 'Betula')
  resume()
  await until(view, () => view.list.find(1n)?.name === 'Betula')
})

t.test('a view that is closed while it is paused stops', async (t) => {
  const service = await start(t, 3)
  const { view, following } = await open(t, service)
  const resume = view.pause()
  view.close()
  await following
  resume()
})

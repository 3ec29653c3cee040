/** Following changes with the client. */
import t, { type Test } from 'tap'
import { type Change, type ClientOptions, createClient, ServiceError } from '../../client/client.ts'
import { contentOf, EXPIRED, latestCursor } from '../helpers/plants/changes.ts'
import { createIn } from '../helpers/plants/single-changes.ts'
import { type Service, startService } from '../helpers/service/service.ts'
import {
  answered,
  connectThrough,
  type Fault,
  HTML,
  lost,
  passed,
  shortenHours,
  silence,
  thrownBy,
} from './faulty-proxy.ts'

let service: Service
/** The cursor at the start of a test. Each test has its own ids. */
let start: string
let first: bigint
t.before(async () => {
  service = await startService(t)
})
t.beforeEach(async () => {
  first = (first ?? 0n) + 100n
  start = await latestCursor(service)
})

const connect = (t: Test, faults?: Fault[], options?: Partial<ClientOptions>) =>
  connectThrough(t, service, faults, options)

const create = (id: bigint) => createIn(service.store, { id: first + id, name: `plant ${id}` })

/** The ids of the next changes. */
async function take(changes: AsyncGenerator<Change>, count: number): Promise<bigint[]> {
  const ids: bigint[] = []
  while (ids.length < count) ids.push((await changes.next()).value.id - first)
  return ids
}

t.test('listChanges fetches a page and those that follow it', async (t) => {
  const client = createClient(service)
  const id = 2n ** 53n + 1n
  await client.createPlant({ id, name: 'Abies', tag: 'Tree' })
  await client.deletePlant(id)
  const page = await client.listChanges({ after: start, limit: 1 })
  t.strictSame(page.changes.map(contentOf), [
    { type: 'created', id, plant: { name: 'Abies', tag: 'Tree' } },
  ])
  t.equal(page.cursor, page.changes[0]?.cursor)
  const second = await page.next()
  t.strictSame(second.changes.map(contentOf), [{ type: 'removed', id }])
  const third = await second.next()
  t.strictSame([third.changes, third.cursor], [[], second.cursor])
  await create(3n)
  const { changes } = await third.next()
  t.match(changes, [{ id: first + 3n }])
  const all = await client.listChanges({ after: page.cursor })
  t.strictSame(all.changes, [...second.changes, ...changes])
})

t.test('listChanges waits for longer than its timeout, and so do later pages', async (t) => {
  const { client, proxy } = await connect(t, [], { timeout: 800, retries: 0 })
  const limits: number[] = []
  const { timeout } = AbortSignal
  t.capture(AbortSignal, 'timeout', (ms: number) => {
    limits.push(ms)
    return proxy.faults.length === 0 ? new AbortController().signal : timeout(200)
  })
  const page = await client.listChanges({ after: 'latest', wait: 1, limit: 7 })
  t.strictSame((await page.next()).changes, [])
  for (const { line } of proxy.requests) t.match(line, /(?=.*wait=1)(?=.*limit=7)/)
  t.same(limits, [1800, 1800])
  proxy.faults = [silence]
  t.match(await thrownBy(page.next()), {
    name: 'ConnectionError',
    cause: { name: 'TimeoutError' },
  })
})

t.test('changes iterates over old changes, then waits for new ones', async (t) => {
  for (const id of [1n, 2n, 3n]) await create(id)
  const { client, proxy } = await connect(t)
  const changes = client.changes({ after: start, pageSize: 2 })
  t.strictSame(await take(changes, 3), [1n, 2n, 3n])
  const next = take(changes, 2)
  while (proxy.requests.length < 3) await new Promise(setImmediate)
  for (const id of [4n, 5n]) await create(id)
  t.strictSame(await next, [4n, 5n])
  const [line, ...others] = proxy.requests.map(({ line }) => line)
  t.match(line, /(?=.*limit=2)(?!.*wait)/)
  for (const line of others) t.match(line, /(?=.*limit=2)(?=.*wait=30)(?=.*after=)/)
})

t.test('changes begins at the end with latest', async (t) => {
  await create(1n)
  const { client, proxy } = await connect(t)
  const latest = take(client.changes({ after: 'latest' }), 1)
  while (proxy.requests.length < 2) await new Promise(setImmediate)
  await create(2n)
  t.strictSame(await latest, [2n])
})

t.test('changes resumes without missing or repeating any, whatever a proxy does', async (t) => {
  const faults = [
    silence,
    answered(429, HTML, 'Slow down'),
    answered(502, HTML, '<html>'),
    answered(504),
  ]
  const { client, proxy } = await connect(t, [], { retries: 1, maxRetryDelay: 5 })
  await create(0n)
  const changes = client.changes({ after: start, pageSize: 3 })
  t.strictSame(await take(changes, 1), [0n])
  // A request that is never answered would otherwise take half a minute.
  t.capture(AbortSignal, 'timeout', (_ms: number) => shortSignal())
  const expected: bigint[] = []
  for (let id = 1n; id <= 20n; id++) {
    expected.push(id)
    await create(id)
  }
  proxy.faults = faults.flatMap((fault) => [fault, fault, fault])
  t.strictSame(await take(changes, expected.length), expected)
  t.equal(proxy.faults.length, 0)
})

function shortSignal(): AbortSignal {
  const controller = new AbortController()
  setTimeout(() => controller.abort(new Error('late')), 200).unref()
  return controller.signal
}

t.test('changes waits for any Retry-After, but at most for a day', async (t) => {
  const { client, proxy } = await connect(t, [], { maxRetryDelay: 10 })
  await create(1n)
  const changes = client.changes({ after: start })
  t.strictSame(await take(changes, 1), [1n])
  proxy.faults = [7200, 3_000_000].map((seconds) => answered(503, { 'retry-after': seconds }))
  await create(2n)
  const hours = shortenHours(t)
  t.strictSame(await take(changes, 1), [2n])
  t.same(hours, [2, 24])
})

t.test('the first request of changes is retried only as often as configured', async (t) => {
  const { client, proxy } = await connect(t, Array(9).fill(lost), { retries: 2 })
  t.match(await thrownBy(client.changes().next()), { name: 'ConnectionError' })
  t.equal(proxy.requests.length, 3)
})

t.test('changes throws what retrying cannot repair', async (t) => {
  const client = createClient(service)
  for (const [after, condition] of [
    ['x', 'cursor-malformed'],
    [EXPIRED, 'cursor-expired'],
  ] as const) {
    const error = await thrownBy(client.changes({ after }).next())
    t.ok(error instanceof ServiceError)
    t.match(error, { condition })
  }
  const { client: rejected, proxy } = await connect(t)
  await create(1n)
  for (const status of [400, 401, 403, 410, 500]) {
    const changes = rejected.changes({ after: start })
    await changes.next()
    proxy.faults = [answered(status)]
    t.match(await thrownBy(changes.next()), { status })
  }
})

t.test('aborting the signal ends the iteration at once', { timeout: 20_000 }, async (t) => {
  const { client, proxy } = await connect(t, [passed, silence])
  const stop = new AbortController()
  const reason = new Error('enough')
  const next = client.changes({ after: 'latest', signal: stop.signal }).next()
  next.catch(() => {})
  while (proxy.requests.length < 2) await new Promise(setImmediate)
  stop.abort(reason)
  t.equal(await thrownBy(next), reason)
})

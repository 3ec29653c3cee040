/** GET /changes as server-sent events. */

import t from 'tap'
import { StoreUnavailable } from '../../../service/store/plant-store.ts'
import { TokenStore } from '../../../service/token-store.ts'
import { AccessTokens } from '../../../src/auth/access-tokens.ts'
import { EventStream, setCommentInterval } from '../../helpers/network/event-stream.ts'
import { contentOf, EXPIRED, latestCursor, readPage } from '../../helpers/plants/changes.ts'
import { freezeClock } from '../../helpers/processes/frozen-clock.ts'
import { type Service, startService } from '../../helpers/service/service.ts'
import { startWaitingService } from '../../helpers/service/waiting-service.ts'

// A stream that is not woken would otherwise read again when it sends a comment.
setCommentInterval(t, 'never')

let service: Service
t.before(async () => {
  service = await startService(t)
})

/** Each test has its own ids. */
let latest = 0
const create = (target = service, name = 'Abies') => target.call({ body: { id: ++latest, name } })

t.test('each change becomes an event with its cursor and JSON', async (t) => {
  const start = await latestCursor(service)
  const stream = await EventStream.open(t, service)
  t.match(stream.response.headers, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    connection: 'close',
  })
  t.equal(await stream.nextBlock(), ':', 'the client knows at once that the stream is open')
  const id = ++latest
  await service.call({ body: { id, name: 'Abies', tag: 'Tree' } })
  await service.call({ method: 'DELETE', path: `/plants/${id}` })
  const events = [await stream.next(), await stream.next()]
  const { changes } = await readPage(service, `?after=${start}`)
  t.strictSame(
    events,
    changes.map((change) => ({ id: change.cursor, change })),
  )
  t.strictSame(changes.map(contentOf), [
    { type: 'created', id: BigInt(id), plant: { name: 'Abies', tag: 'Tree' } },
    { type: 'removed', id: BigInt(id) },
  ])
})

t.test('any text fits into an event', async (t) => {
  const name = 'a\nb\r\nc\rd\u2028e\n\ndata: f"\\'
  const stream = await EventStream.open(t, service)
  await create(service, name)
  t.equal((await stream.next()).change.plant?.name, name)
})

t.test('a stream begins after a cursor, and sends more than a page', async (t) => {
  await create()
  const cursor = await latestCursor(service)
  const plants = Array.from({ length: 250 }, () => ({ id: ++latest, name: 'Abies' }))
  await service.call({ path: '/plants/batch', body: plants })
  const stream = await EventStream.open(t, service, { path: `/changes?after=${cursor}&limit=1` })
  const changes = await stream.changes(250)
  t.strictSame(
    changes.map(({ id }) => Number(id)),
    plants.map(({ id }) => id),
  )
})

t.test('Last-Event-ID resumes a stream and takes precedence over after', async (t) => {
  const path = `/changes?after=${await latestCursor(service)}`
  for (const _ of 'abc') await create()
  const first = await EventStream.open(t, service, { path })
  const { id } = await first.next()
  first.close()
  const headers = { 'last-event-id': id }
  for (const path of ['/changes', '/changes?after=latest', '/changes?after=x']) {
    const second = await EventStream.open(t, service, { path, headers })
    t.match(await second.changes(2), [{ id: BigInt(latest - 1) }, { id: BigInt(latest) }])
  }
})

t.test('an empty Last-Event-ID is no cursor', async (t) => {
  const path = `/changes?after=${await latestCursor(service)}`
  await create()
  const stream = await EventStream.open(t, service, { path, headers: { 'last-event-id': '' } })
  t.match(await stream.changes(1), [{ id: BigInt(latest) }])
})

t.test('no event is late', async (t) => {
  const stream = await EventStream.open(t, service)
  freezeClock(t)
  for (let count = 0; count < 20; count++) {
    await create()
    t.match((await stream.next()).change, { id: BigInt(latest) })
  }
})

t.test('Accept selects the stream', async (t) => {
  const head = async (accept: string) => {
    const call = { method: 'HEAD', path: '/changes', headers: { accept } }
    return (await service.call(call)).headers['content-type']
  }
  for (const accept of [
    'text/event-stream',
    'Text/Event-Stream;q=0.5',
    'text/event-stream, */*',
    'text/*',
    'application/json;q=0.1, text/event-stream',
    'text/event-stream;charset=utf-8',
    'text/event-stream; charset="UTF-8", application/json;q=0.9',
  ]) {
    t.equal(await head(accept), 'text/event-stream', accept)
  }
  for (const accept of [
    '',
    '*/*',
    'application/json',
    'application/json, text/event-stream',
    `text/event-stream${', a/b'.repeat(250)}`,
    'text/event-stream;q=0',
    'text/event-stream;q=0.1, */*',
    'text/event-stream;charset=latin1',
    'application/json;charset=utf-8, text/event-stream;q=0.9',
    'text/html, */*;q=0.8',
    'nonsense',
  ]) {
    t.equal(await head(accept), 'application/json', accept)
  }
})

t.test('an error before the stream is an ordinary response', async (t) => {
  const events = { accept: 'text/event-stream' }
  const get = { method: 'GET', path: '/changes' }
  for (const [headers, path, status, error] of [
    [{ 'last-event-id': 'x' }, '/changes', 400, 40007],
    [{}, '/changes?after=x', 400, 40007],
    [{}, '/changes?wait=61', 400, 40004],
    [{ 'last-event-id': EXPIRED }, '/changes', 410, 41001],
  ] as const) {
    const answer = await service.call({ ...get, path, headers: { ...events, ...headers } })
    t.match(answer, { status, json: { error } })
  }
  t.match(await service.call({ ...get, headers: events, token: 'x' }), { status: 401 })
})

t.test('a comment every 15 s keeps an idle stream open', async (t) => {
  setCommentInterval(t, 5)
  const stream = await EventStream.open(t, service)
  for (let comments = 0; comments < 5; comments++) t.equal(await stream.nextBlock(), ':')
  await create()
  t.match((await stream.next()).change, { type: 'created' })
})

t.test('the response timeout does not count while there is nothing to send', async (t) => {
  const service = await startService(t, { responseTimeoutMs: 100 })
  const stream = await EventStream.open(t, service)
  await create(service)
  t.match((await stream.next()).change, { type: 'created' })
})

t.test('a stop ends streams cleanly', async (t) => {
  const service = await startService(t)
  const streams = await Promise.all([1, 2, 3].map(() => EventStream.open(t, service)))
  await service.close()
  for (const stream of streams) {
    await stream.end()
    t.ok(stream.response.complete)
  }
})

t.test('a revoked token ends its streams, and no others', async (t) => {
  const token = await service.issueToken('revoked', ['read'])
  const revoked = [
    await EventStream.open(t, service, { token }),
    await EventStream.open(t, service, { token }),
  ]
  const other = await EventStream.open(t, service)
  await new AccessTokens(new TokenStore(service.store)).revoke('revoked')
  await Promise.all(revoked.map((stream) => stream.end()))
  await create()
  t.match((await other.next()).change, { type: 'created' })
})

t.test('a stream whose page cannot be read ends, and the log has the reason', async (t) => {
  const lines: string[] = []
  let outcome: Error | 'expired' | undefined
  const { service, isWaiting } = await startWaitingService(t, {
    instead: {
      readChanges: async (request) => {
        if (outcome instanceof Error) throw outcome
        return outcome ?? service.store.readChanges(request)
      },
    },
    logger: { stream: { write: (line) => void lines.push(line) } },
  })
  for (const next of [
    'expired',
    new StoreUnavailable('failing', 'SQLITE_IOERR'),
    new TypeError('a bug'),
  ] as const) {
    outcome = undefined
    const stream = await EventStream.open(t, service)
    await isWaiting()
    outcome = next
    await create(service)
    await stream.end()
    t.ok(stream.response.complete)
    if (next === 'expired') continue
    t.ok(
      lines.some((line) => line.includes(next.message)),
      next.message,
    )
  }
})

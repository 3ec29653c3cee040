/** GET /changes as server-sent events. */
import t from 'tap'
import { AccessTokens } from '../../../service/access-tokens.ts'
import { StoreUnavailable } from '../../../service/plant-store.ts'
import { contentOf, latestCursor, readPage } from '../../helpers/changes.ts'
import { EventStream, setCommentInterval } from '../../helpers/event-stream.ts'
import { type Service, startService } from '../../helpers/service.ts'
import { startWaitingService } from '../../helpers/waiting-service.ts'

const plant = { id: 1, name: 'Abies', tag: 'Tree' }

// A stream that is not woken would otherwise read again when it sends a comment.
setCommentInterval(t, 'never')

const create = (service: Service, id: number, name = 'Abies') =>
  service.call({ body: { id, name } })

t.test('each change becomes an event with its cursor and JSON', async (t) => {
  const service = await startService(t)
  const stream = await EventStream.open(t, service)
  t.match(stream.response.headers, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    connection: 'close',
  })
  t.equal(await stream.nextBlock(), ':', 'the client knows at once that the stream is open')
  await service.call({ body: plant })
  await service.call({ method: 'DELETE', path: '/plants/1' })
  const events = [await stream.next(), await stream.next()]
  const { changes } = await readPage(service)
  t.strictSame(
    events,
    changes.map((change) => ({ id: change.cursor, change })),
  )
  t.strictSame(changes.map(contentOf), [
    { type: 'created', id: 1n, plant: { name: 'Abies', tag: 'Tree' } },
    { type: 'removed', id: 1n },
  ])
})

t.test('any text fits into an event', async (t) => {
  const service = await startService(t)
  const name = 'a\nb\r\nc\rd\u2028e\n\ndata: f"\\'
  await service.call({ body: { id: 1, name } })
  const stream = await EventStream.open(t, service, { path: '/changes' })
  t.equal((await stream.next()).change.plant?.name, name)
})

t.test('a stream begins after a cursor, and sends more than a page', async (t) => {
  const service = await startService(t)
  await create(service, 0)
  const cursor = await latestCursor(service)
  const plants = Array.from({ length: 250 }, (_, id) => ({ id: id + 1, name: 'Abies' }))
  await service.call({ path: '/plants/batch', body: plants })
  const stream = await EventStream.open(t, service, { path: `/changes?after=${cursor}&limit=1` })
  const changes = await stream.changes(250)
  t.strictSame(
    changes.map(({ id }) => Number(id)),
    plants.map(({ id }) => id),
  )
})

t.test('Last-Event-ID resumes a stream and takes precedence over after', async (t) => {
  const service = await startService(t)
  for (const id of [1, 2, 3]) await create(service, id)
  const first = await EventStream.open(t, service, { path: '/changes' })
  const { id } = await first.next()
  first.close()
  const headers = { 'last-event-id': id }
  for (const path of ['/changes', '/changes?after=latest', '/changes?after=x']) {
    const second = await EventStream.open(t, service, { path, headers })
    t.match(await second.changes(2), [{ id: 2n }, { id: 3n }])
  }
})

t.test('all streams get the same events', async (t) => {
  const service = await startService(t)
  const streams = await Promise.all(Array.from({ length: 50 }, () => EventStream.open(t, service)))
  for (const id of [1, 2, 3]) await create(service, id)
  for (const stream of streams) {
    t.match(await stream.changes(3), [{ id: 1n }, { id: 2n }, { id: 3n }])
  }
})

t.test('no event is late', async (t) => {
  const service = await startService(t)
  const stream = await EventStream.open(t, service)
  const delays: number[] = []
  for (let id = 0; id < 20; id++) {
    await create(service, id)
    const created = performance.now()
    await stream.next()
    delays.push(performance.now() - created)
  }
  delays.sort((one, other) => one - other)
  // A lost wake-up takes up to a second. Some can be late because the machine is busy.
  t.ok((delays[14] ?? Number.NaN) < 500, `${delays}`)
})

t.test('Accept selects the stream', async (t) => {
  const service = await startService(t)
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
  const service = await startService(t)
  const events = { accept: 'text/event-stream' }
  const get = { method: 'GET', path: '/changes' }
  const expired = await latestCursor(await startService(t))
  for (const [headers, path, status, error] of [
    [{ 'last-event-id': 'x' }, '/changes', 400, 40007],
    [{}, '/changes?after=x', 400, 40007],
    [{}, '/changes?wait=61', 400, 40004],
    [{ 'last-event-id': expired }, '/changes', 410, 41001],
  ] as const) {
    const answer = await service.call({ ...get, path, headers: { ...events, ...headers } })
    t.match(answer, { status, json: { error } })
  }
  t.match(await service.call({ ...get, headers: events, token: 'x' }), { status: 401 })
})

t.test('a comment every 15 s keeps an idle stream open', async (t) => {
  const service = await startService(t)
  setCommentInterval(t, 5)
  const stream = await EventStream.open(t, service)
  for (let comments = 0; comments < 5; comments++) t.equal(await stream.nextBlock(), ':')
  await create(service, 1)
  t.match((await stream.next()).change, { id: 1n })
})

t.test('the response timeout does not count while there is nothing to send', async (t) => {
  const service = await startService(t, { responseTimeoutMs: 100 })
  const stream = await EventStream.open(t, service)
  await readPage(service, '?after=latest&wait=1')
  await create(service, 1)
  t.match((await stream.next()).change, { id: 1n })
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
  const service = await startService(t)
  const token = await service.issueToken('revoked', ['read'])
  const revoked = [
    await EventStream.open(t, service, { token }),
    await EventStream.open(t, service, { token }),
  ]
  const other = await EventStream.open(t, service)
  await new AccessTokens(service.store).revoke('revoked')
  await Promise.all(revoked.map((stream) => stream.end()))
  await create(service, 1)
  t.match((await other.next()).change, { id: 1n })
})

t.test('an expired token ends its streams', async (t) => {
  let isExpired = false
  const service: Service = await startService(t, {
    instead: {
      findToken: async (selector) => {
        const token = await service.store.findToken(selector)
        return token && isExpired ? { ...token, expiresAt: new Date(0) } : token
      },
    },
  })
  const stream = await EventStream.open(t, service)
  isExpired = true
  await stream.end()
  t.ok(stream.response.complete)
})

t.test('a stream whose position expires ends, and its client gets 410', async (t) => {
  let isExpired = false
  const { service, isWaiting } = await startWaitingService(t, {
    instead: {
      readChanges: async (request) => (isExpired ? 'expired' : service.store.readChanges(request)),
    },
  })
  const stream = await EventStream.open(t, service)
  await isWaiting()
  isExpired = true
  await create(service, 1)
  await stream.end()
  t.ok(stream.response.complete)
})

t.test('a store that fails ends the stream, and the log has the reason', async (t) => {
  const lines: string[] = []
  let error: Error | undefined
  const { service, isWaiting } = await startWaitingService(t, {
    instead: {
      readChanges: async (request) => {
        if (error !== undefined) throw error
        return service.store.readChanges(request)
      },
    },
    logger: { stream: { write: (line) => void lines.push(line) } },
  })
  for (const reason of [new StoreUnavailable('failing', 'SQLITE_IOERR'), new TypeError('a bug')]) {
    error = undefined
    const stream = await EventStream.open(t, service)
    await isWaiting()
    error = reason
    await create(service, 1, reason.name)
    await service.call({ method: 'DELETE', path: '/plants/1' })
    await stream.end()
    t.ok(stream.response.complete)
    t.ok(
      lines.some((line) => line.includes(reason.message)),
      reason.message,
    )
  }
})

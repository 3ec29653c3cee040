/** GET /changes with `wait`: the response is sent as soon as there is a change. */
import { once } from 'node:events'
import t from 'tap'
import { StoreUnavailable } from '../../../service/store/plant-store.ts'
import type { StoredRecord } from '../../../service/store/record-store.ts'
import { formatHead, openConnection } from '../../helpers/network/connection.ts'
import { cursorOf, latestCursor, nextQuery, readPage } from '../../helpers/plants/changes.ts'
import { answersOf, readAll, type Service, sendRaw } from '../../helpers/service/service.ts'
import { closed } from '../../helpers/service/threads.ts'
import { startWaitingService, type WaitingService } from '../../helpers/service/waiting-service.ts'

const PATH = '/changes?after=latest&wait=60'
const POLL = `GET ${PATH}`

/** The service of all tests that neither stop it nor replace its methods. */
let waiting: WaitingService
t.before(async () => {
  waiting = await startWaitingService(t)
})

/** Each test has its own ids. */
let latest = 0
const create = (service: Service) => service.call({ body: { id: ++latest, name: 'Abies' } })

/** A limit below the wait of a request. Each test needs its own object, because tap changes it. */
const soon = () => ({ timeout: 50_000 })

t.test('a waiting request gets the next change', soon(), async (t) => {
  const { service, isWaiting } = waiting
  const query = `?after=${await latestCursor(service)}&wait=60`
  const polls = Promise.all([readPage(service, query), readPage(service, query)])
  await isWaiting()
  await create(service)
  for (const { status, changes, headers } of await polls) {
    t.equal(status, 200)
    t.match(changes, [{ type: 'created', id: BigInt(latest) }])
    t.equal(cursorOf(nextQuery(headers)), changes[0]?.cursor)
    t.match(nextQuery(headers), /wait=60/)
  }
})

t.test('a stop answers waiting requests with an empty page and their Link', soon(), async (t) => {
  const { service, isWaiting } = await startWaitingService(t)
  const poll = readPage(service, '?wait=60')
  await isWaiting()
  await service.close()
  const { body, headers } = await poll
  t.equal(body, '[]')
  t.match(nextQuery(headers), /after=.*wait=60|wait=60.*after=/)
})

t.test('a client that has closed its side gets its response at once', soon(), async (t) => {
  const { service, isWaiting } = waiting
  const socket = openConnection(t, service)
  const bytes = readAll(socket)
  socket.write(formatHead(service, POLL))
  await isWaiting()
  socket.end()
  t.match(answersOf(await bytes), [{ status: 200, body: '[]' }])
})

t.test('a client that closes its side before the wait does not wait', soon(), async (t) => {
  const halfClosed = Promise.withResolvers<void>()
  const { service } = await startWaitingService(t, {
    instead: {
      readChanges: async (request) => {
        await halfClosed.promise
        return service.store.readChanges(request)
      },
    },
  })
  service.app.server.on('connection', (socket) => socket.on('end', halfClosed.resolve))
  const [answer] = await sendRaw(service.port, formatHead(service, POLL))
  t.match(answer, { status: 200, body: '[]' })
})

t.test('a client that disconnects ends the wait', soon(), async (t) => {
  const { service, isWaiting } = await startWaitingService(t)
  const socket = openConnection(t, service)
  socket.write(formatHead(service, POLL))
  const [connection] = await once(service.app.server, 'connection')
  await isWaiting()
  socket.resetAndDestroy()
  await closed(connection)
  // A service with a waiting request would not close at once.
  await service.close()
})

t.test('waiting does not count towards the response timeout', async (t) => {
  const { service } = await startWaitingService(t, { responseTimeoutMs: 200 })
  const start = await latestCursor(service)
  const { status, body, headers } = await readPage(service, '?after=latest&wait=1')
  t.match({ status, body }, { status: 200, body: '[]' })
  t.match(nextQuery(headers), /wait=1/)
  t.equal(cursorOf(nextQuery(headers)), start)
})

t.test('an expired token ends the wait', soon(), async (t) => {
  let isExpired = false
  const { service, isWaiting } = await startWaitingService(t, {
    instead: {
      findRecord: async (...args) => {
        const record = await service.store.findRecord(...args)
        const expired = () => JSON.stringify({ ...JSON.parse(record?.value ?? ''), expiresAt: 0 })
        return record && isExpired ? { ...record, value: expired() } : record
      },
    },
  })
  const poll = service.call({ method: 'GET', path: PATH })
  await isWaiting()
  isExpired = true
  t.match(await poll, { status: 200, body: '[]' })
})

t.test('a check of tokens that fails, or takes long, does not end the wait', soon(), async (t) => {
  const checks = [Promise.withResolvers<StoredRecord>(), Promise.withResolvers<StoredRecord>()]
  let isChecking = false
  let begun = 0
  const { service, isWaiting } = await startWaitingService(t, {
    instead: {
      findRecord: async (...args) => {
        const check = isChecking ? checks[begun++] : undefined
        return check?.promise ?? service.store.findRecord(...args)
      },
    },
  })
  const token = await service.issueToken('checked', ['read'])
  const start = setInterval
  let ticks = 0
  t.capture(globalThis, 'setInterval', (check: () => void) =>
    start(() => {
      ticks++
      check()
    }, 5),
  )
  const poll = service.call({ method: 'GET', path: PATH, token })
  await isWaiting()
  isChecking = true
  while (begun === 0) await new Promise(setImmediate)
  // Nothing is checked again while the first check has not ended.
  const before = ticks
  while (ticks < before + 3) await new Promise(setImmediate)
  t.equal(begun, 1)
  checks[0]?.reject(new StoreUnavailable('failing', 'the server is down'))
  while (begun === 1) await new Promise(setImmediate)
  isChecking = false
  await create(service)
  t.match((await poll).json, [{ id: BigInt(latest) }])
  checks[1]?.reject(new StoreUnavailable('failing', 'the server is down'))
})

t.test('a store that fails during the wait ends it with 503', soon(), async (t) => {
  let reads = 0
  const { service } = await startWaitingService(t, {
    instead: {
      readChanges: async (request) => {
        if (++reads > 1) throw new StoreUnavailable('failing', 'SQLITE_IOERR')
        return service.store.readChanges(request)
      },
    },
  })
  t.match(await readPage(service, '?wait=60'), { status: 503, json: { error: 50302 } })
})

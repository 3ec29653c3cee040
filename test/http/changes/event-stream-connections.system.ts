/** Event streams and their connections: old, pipelined, half-closed and slow clients, and memory. */

import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { TokenStore } from '../../../service/token-store.ts'
import { AccessTokens } from '../../../src/auth/access-tokens.ts'
import { LARGE_MESSAGES_BYTES_MAX } from '../../../src/http/responses/byte-budget.ts'
import { formatHead, openConnection } from '../../helpers/network/connection.ts'
import { EventStream, setCommentInterval } from '../../helpers/network/event-stream.ts'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { createIn } from '../../helpers/plants/single-changes.ts'
import { readAll, type Service, startService } from '../../helpers/service/service.ts'
import { ask, closed } from '../../helpers/service/threads.ts'
import { startWaitingService } from '../../helpers/service/waiting-service.ts'

const EVENTS = 'Accept: text/event-stream\r\n'
const MIB = 2 ** 20
const plant = { id: 1, name: 'Abies', tag: 'Tree' }

// Comments would show that a client has gone.
setCommentInterval(t, 'never')

const create = (service: Service, id: number) => service.call({ body: { id, name: 'Abies' } })

/** The service of all tests that neither stop it nor change its options. */
let shared: Service
t.before(async () => {
  shared = await startService(t)
})

/** Takes the whole response budget of a service, so that nobody else can. Returns a function that releases it. */
function fillBudget({ app }: Service): () => void {
  const share = app.responseBudget.share(() => {})
  share.take(LARGE_MESSAGES_BYTES_MAX)
  return () => share.release()
}

/** Whether nothing is taken of the response budget of a service. */
function isUnused({ app }: Service): boolean {
  const share = app.responseBudget.share(() => {})
  const fits = share.take(LARGE_MESSAGES_BYTES_MAX)
  share.release()
  return fits
}

t.test('an HTTP/1.0 client gets a stream without chunks', async (t) => {
  const service = await startService(t)
  await service.call({ body: plant })
  const socket = openConnection(t, service)
  socket.write(formatHead(service, 'GET /changes', EVENTS).replace('HTTP/1.1', 'HTTP/1.0'))
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  t.notMatch(bytes.toString(), /transfer-encoding/i)
  t.match(bytes.toString(), /\r\n\r\nid: \S+\ndata: {"cursor":.*}\n\n$/)
  const ended = once(socket, 'end')
  await service.close()
  await ended
})

t.test('a stream is the last response of its connection', async (t) => {
  const service = await startService(t)
  const socket = openConnection(t, service)
  const list = formatHead(service, 'GET /plants')
  await ask(socket, list)
  const bytes = readAll(socket)
  socket.write(formatHead(service, 'GET /changes', EVENTS) + list)
  await once(socket, 'data')
  const stream = await EventStream.open(t, service)
  await stream.nextBlock()
  await service.close()
  const text = (await bytes).toString()
  t.equal(text.match(/HTTP\/1.1/g)?.length, 1)
  t.match(text, /\r\n0\r\n\r\n$/)
})

for (const when of ['before', 'after']) {
  t.test(`a client that has closed its side ${when} the stream begins gets events`, async (t) => {
    const halfClosed = Promise.withResolvers<void>()
    const service: Service = await startService(t, {
      instead: {
        readChanges: async (request) => {
          if (when === 'before') await halfClosed.promise
          return service.store.readChanges(request)
        },
      },
    })
    service.app.server.on('connection', (socket) => socket.on('end', halfClosed.resolve))
    const socket = connect({ port: service.port, host: '127.0.0.1', allowHalfOpen: true })
    t.teardown(() => socket.destroy())
    let text = ''
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    const comments = () => text.match(/(?<=\n):\n\n/g)?.length ?? 0
    socket.write(formatHead(service, 'GET /changes', EVENTS))
    if (when === 'after') while (comments() < 1) await once(socket, 'data')
    socket.end()
    // One shows that the stream is open. The others are sent because the client has closed its side.
    while (comments() < 3) await once(socket, 'data')
    await create(service, 1)
    while (!text.includes('data: {')) await once(socket, 'data')
    t.match(text, /"type":"created"/)
  })
}

t.test('a client that has gone away is noticed', async (t) => {
  const service = shared
  const socket = openConnection(t, service)
  socket.write(formatHead(service, 'GET /changes?after=latest', EVENTS))
  const [connection] = (await once(service.app.server, 'connection')) as [Socket]
  await once(socket, 'data')
  // Unread bytes would reset the connection.
  while (socket.bytesRead < connection.bytesWritten) await once(socket, 'data')
  socket.destroy()
  await closed(connection)
  t.pass('without waiting for the next comments')
})

t.test('a client that disconnects before the stream begins gets nothing', async (t) => {
  const gate = Promise.withResolvers<void>()
  const reading = Promise.withResolvers<void>()
  const service: Service = await startService(t, {
    instead: {
      readChanges: async (request) => {
        reading.resolve()
        await gate.promise
        return service.store.readChanges(request)
      },
    },
  })
  const socket = openConnection(t, service)
  socket.write(formatHead(service, 'GET /changes', EVENTS))
  const [connection] = (await once(service.app.server, 'connection')) as [Socket]
  await reading.promise
  socket.resetAndDestroy()
  await closed(connection)
  gate.resolve()
  await service.close()
  t.equal(connection.bytesWritten, 0)
})

t.test('a client that does not read is paused, then disconnected', async (t) => {
  const service = await startService(t, { responseTimeoutMs: 1000 })
  const plants = Array.from({ length: 40 }, (_, id) => ({ id: BigInt(id), name: 'x'.repeat(MIB) }))
  await importPlants(service.store, plants, 'stop')
  const socket = openConnection(t, service).pause()
  socket.write(formatHead(service, 'GET /changes', EVENTS))
  const [connection] = (await once(service.app.server, 'connection')) as [Socket]
  let most = 0
  const { write } = connection
  t.capture(connection, 'write', (...args: Parameters<typeof write>) => {
    most = Math.max(most, connection.writableLength)
    return write.apply(connection, args)
  })
  await closed(connection)
  t.ok(most < 4 * MIB, `${most} bytes were waiting`)
  // The stream notices in a later turn of the event loop that its client is gone.
  while (!isUnused(service)) await new Promise(setImmediate)
})

t.test('a stream whose page does not fit into memory reads it again later', async (t) => {
  // Nobody loses bytes to others.
  const { service, countReads } = await startWaitingService(t, { clock: { monotonic: () => 0 } })
  await service.call({ body: { id: 1, name: 'x'.repeat(MIB / 2) } })
  const release = fillBudget(service)
  const stream = await EventStream.open(t, service, { path: '/changes' })
  for (let comments = 0; comments < 3; comments++) t.equal(await stream.nextBlock(), ':')
  // The page is larger when it is read again.
  await createIn(service.store, { id: 2n, name: 'x'.repeat(MIB / 4) })
  release()
  t.match(await stream.changes(2), [{ id: 1n }, { id: 2n }])
  while (!isUnused(service)) await new Promise(setImmediate)
  // An idle stream reads once a second.
  t.ok(countReads() < 20, `${countReads()} reads`)
})

t.test('a stream that has not read its page for long loses it to others', async (t) => {
  let now = 0
  const service = await startService(t, { clock: { monotonic: () => now } })
  const plants = Array.from({ length: 20 }, (_, id) => ({ id: BigInt(id), name: 'x'.repeat(MIB) }))
  await importPlants(service.store, plants, 'stop')
  const socket = openConnection(t, service).pause()
  socket.write(formatHead(service, 'GET /changes', EVENTS))
  const [, response] = (await once(service.app.server, 'request')) as [unknown, ServerResponse]
  while (!response.writableNeedDrain) await new Promise(setImmediate)
  const other = service.app.responseBudget.share(() => {})
  t.notOk(other.take(LARGE_MESSAGES_BYTES_MAX))
  now = 1000
  t.ok(other.take(LARGE_MESSAGES_BYTES_MAX))
  t.ok(response.destroyed)
})

t.test('a stream that is stopped holds its memory until the client has gone', async (t) => {
  const service = shared
  const token = await service.issueToken('revoked', ['read'])
  const plants = Array.from({ length: 20 }, (_, id) => ({
    id: 100n + BigInt(id),
    name: 'x'.repeat(MIB),
  }))
  await importPlants(service.store, plants, 'stop')
  const socket = openConnection(t, service).pause()
  socket.write(formatHead({ token }, 'GET /changes', EVENTS))
  const [, response] = (await once(service.app.server, 'request')) as [unknown, ServerResponse]
  while (!response.writableNeedDrain) await new Promise(setImmediate)
  await new AccessTokens(new TokenStore(service.store)).revoke('revoked')
  while (!response.writableEnded) await new Promise(setImmediate)
  t.notOk(isUnused(service))
  socket.destroy()
  while (!isUnused(service)) await new Promise(setImmediate)
})

t.test('a stop also ends a stream that waits for memory', async (t) => {
  const service = await startService(t)
  await service.call({ body: { id: 1, name: 'x'.repeat(MIB / 2) } })
  fillBudget(service)
  const socket = openConnection(t, service)
  const bytes = readAll(socket)
  socket.write(formatHead(service, 'GET /changes', EVENTS))
  await once(service.app.server, 'request')
  await service.close()
  t.match((await bytes).toString(), /^HTTP\/1.1 200 /)
})

t.test('a stream is logged when it ends', async (t) => {
  const lines: string[] = []
  const logged = Promise.withResolvers<void>()
  const service = await startService(t, {
    config: { logRequests: 'all' },
    logger: {
      stream: {
        write: (line) => {
          lines.push(line)
          if (line.includes('/changes')) logged.resolve()
        },
      },
    },
  })
  const stream = await EventStream.open(t, service)
  t.notOk(lines.some((line) => line.includes('/changes')))
  stream.close()
  await logged.promise
  const entry = lines.map((line) => JSON.parse(line)).find(({ path }) => path === '/changes')
  t.match(entry, { method: 'GET', status: 200, token: 'test' })
})

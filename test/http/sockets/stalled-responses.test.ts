/** Responses that clients do not read. */
import { once } from 'node:events'
import { Socket } from 'node:net'
import Fastify from 'fastify'
import t from 'tap'
import { closeSlowConnections } from '../../../src/http/sockets/connection-timeouts.ts'
import { formatHead, openConnection } from '../../helpers/network/connection.ts'
import { createIn } from '../../helpers/plants/single-changes.ts'
import { answersOf, readAll, type Service, startService } from '../../helpers/service/service.ts'

const MIB = 2 ** 20

t.test('a client that does not read is disconnected, and one that waits is not', async (t) => {
  const gate = Promise.withResolvers<undefined>()
  const service: Service = await startService(t, {
    responseTimeoutMs: 400,
    instead: { get: (id) => (id === 2n ? gate.promise : service.store.get(id)) },
  })
  await createIn(service.store, { id: 1n, name: '\x01'.repeat(2 * MIB) })
  const socket = openConnection(t, service)
  const bytes = readAll(socket)
  socket.write(formatHead(service, 'GET /plants/2', 'Connection: close\r\n'))
  await once(service.app.server, 'request')
  const silent = openConnection(t, service).pause()
  silent.write(formatHead(service, 'GET /plants/1'))
  const [connection] = await once(service.app.server, 'connection')
  await new Promise((resolve) => connection.on('close', resolve))
  gate.resolve(undefined)
  t.match(answersOf(await bytes), [{ status: 404 }])
})

t.test('a connection without a handle counts as having no bytes waiting', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const checked = Promise.withResolvers<void>()
  const connections = {
    *[Symbol.iterator]() {
      yield new Socket()
      checked.resolve()
    },
  }
  const timeouts = { requestTimeoutMs: 4, responseTimeoutMs: 4 }
  closeSlowConnections(app, connections as unknown as Set<Socket>, timeouts)
  await app.listen({ port: 0 })
  await checked.promise
  t.pass('it threw no error')
})

t.test('closing the service clears its timers', async (t) => {
  const timers: NodeJS.Timeout[] = []
  const start = setInterval
  t.capture(globalThis, 'setInterval', (callback: () => void, delayMs: number) => {
    const timer = start(callback, delayMs)
    timers.push(timer)
    return timer
  })
  const cleared = t.capture(globalThis, 'clearInterval', clearInterval)
  const service = await startService(t)
  await service.close()
  t.ok(timers.length > 0)
  const stopped = cleared().map(({ args: [timer] }) => timer)
  t.same(
    timers.map((timer) => stopped.includes(timer)),
    timers.map(() => true),
  )
})

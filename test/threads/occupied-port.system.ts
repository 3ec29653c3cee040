/** With SO_REUSEPORT alone, a second service could listen on an occupied port without noticing. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { reservePort } from '../../src/threads/port-reservation.ts'
import { freePort } from '../../tools/postgres/postgres-server.ts'
import { isFree } from '../helpers/network/connection.ts'
import { isSettled } from '../helpers/processes/settled.ts'
import { openLines, startThreads, THREADS } from '../helpers/service/threads.ts'

const occupied = { code: 'EADDRINUSE', syscall: 'listen' }

/** Listens on a port until the test ends. */
async function occupy(t: Test, host: string, port = 0, reusePort = false): Promise<number> {
  const server: Server = createServer().listen({ host, port, reusePort })
  t.teardown(() => server.close())
  await once(server, 'listening')
  return (server.address() as { port: number }).port
}

const noIpv6 = (await isFree('::1')) ? false : '::1 is unavailable on this machine'

t.test('a port is free if nothing listens there', async (t) => {
  const { addresses, unavailable, release } = await reservePort(['127.0.0.1'], 0)
  t.same(unavailable, [])
  const [{ port } = { port: 0 }] = addresses
  t.ok(await isFree('127.0.0.1', port), 'the reservation itself does not occupy it')
  release()
})

for (const reusePort of [false, true]) {
  t.test(`a port at which a server listens is not free, reusePort: ${reusePort}`, async (t) => {
    const port = await occupy(t, '127.0.0.1', 0, reusePort)
    await t.rejects(reservePort(['127.0.0.1'], port), occupied)
    // The failed attempt has released the lock.
    const { release } = await reservePort(['127.0.0.1'], 0)
    release()
  })
}

t.test('if only ::1 is occupied, 127.0.0.1 is reserved alone', { skip: noIpv6 }, async (t) => {
  const port = await occupy(t, '::1', await freePort(), true)
  const { addresses, unavailable, release } = await reservePort(['127.0.0.1', '::1'], port)
  release()
  t.match(addresses, [{ address: '127.0.0.1', port }])
  t.equal(addresses.length, 1)
  t.match(unavailable, [/^\[::1\]:\d+: listen EADDRINUSE/])
})

t.test('a port that another service reserves is not free until that service listens', async (t) => {
  const port = await freePort()
  const first = await reservePort(['127.0.0.1'], port)
  const second = reservePort(['127.0.0.1'], port)
  t.notOk(await isSettled(second))
  // As the threads of the first service do.
  await occupy(t, '127.0.0.1', port, true)
  first.release()
  await t.rejects(second, occupied)
})

t.test('of two services that start at the same moment, one starts', async (t) => {
  const port = await freePort()
  const database = join(t.testdir(), 'plants.db')
  const starts = ['one', 'other'].map((name) =>
    startThreads(t, { port, database: database + name }),
  )
  const outcomes = await Promise.allSettled(starts)
  t.same(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  const reasons = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [outcome.reason] : [],
  )
  t.match(reasons, [occupied])

  t.test('its threads share the port', async (t) => {
    const lines = await openLines(t, { port })
    t.equal(new Set(lines.map(({ thread }) => thread)).size, THREADS)
  })

  t.test('the port is occupied for later services', async (t) => {
    await t.rejects(reservePort(['127.0.0.1'], port), occupied)
    await t.rejects(startThreads(t, { port, threads: 1 }), occupied)
  })
})

t.test('the port of a service with one thread is occupied', async (t) => {
  const { port } = await startThreads(t, { threads: 1 })
  await t.rejects(reservePort(['127.0.0.1'], port), occupied)
})

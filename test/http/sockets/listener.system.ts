/** `--host localhost`: one service on 127.0.0.1 and ::1. And how many listeners share a port. */
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { addressOf } from '../../../src/http/sockets/listener.ts'
import {
  type PlantStoreOptions,
  type RunningPlantStore,
  startPlantStore,
} from '../../../src/index.ts'
import { freePort } from '../../../tools/postgres/postgres-server.ts'
import { isFree } from '../../helpers/network/connection.ts'
import { halfACreate } from '../../helpers/service/client.ts'
import { answersOf, readAll } from '../../helpers/service/service.ts'
import { startThreads } from '../../helpers/service/threads.ts'

const ADDRESSES = ['127.0.0.1', '::1']

const skip = (await isFree('::1')) ? false : '::1 is unavailable on this machine'

async function started(t: Test, options?: PlantStoreOptions): Promise<RunningPlantStore> {
  let close = async () => {}
  t.teardown(() => close())
  const running = await startPlantStore({ host: 'localhost', ...options })
  close = running.close
  return running
}

const portOf = ({ url }: RunningPlantStore) => Number(new URL(url).port)

/** Resolves to the next data received. */
const next = async (socket: Socket): Promise<string> => String((await once(socket, 'data'))[0])

/** The URL of the service at one of its addresses. */
const urlAt = (running: RunningPlantStore, host: string) =>
  `http://${host.includes(':') ? `[${host}]` : host}:${portOf(running)}`

t.test('localhost listens on both loopback addresses', { skip }, async (t) => {
  const running = await started(t)
  t.match(running.url, 'http://127.0.0.1:')
  const live = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n'
  for (const [bytes, answer] of [
    ['hello\r\n\r\n', { status: 400, body: /"error":40003/ }],
    ['CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n', { status: 400, body: /40003/ }],
    [live, { status: 200 }],
  ] as const) {
    for (const host of ADDRESSES) {
      const socket = connect(portOf(running), host)
      const all = readAll(socket)
      // The client's side is closed before the response.
      socket.end(bytes)
      t.match(answersOf(await all), [answer], host)
    }
  }
})

t.test('shutdown drains the connections of both addresses', { skip }, async (t) => {
  const hour = 3_600_000
  const running = await started(t, { shutdownTimeout: hour, requestTimeout: hour })
  const port = portOf(running)
  const connections = await Promise.all(
    ADDRESSES.map(async (host, id) => {
      const idle = connect(port, host)
      idle.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n')
      await next(idle)
      const create = { id, name: host }
      const busy = await halfACreate(urlAt(running, host), running.token, create)
      return { host, idle, idleEnd: readAll(idle), ...busy }
    }),
  )
  const closed = running.close()
  for (const { host, idle, idleEnd } of connections) {
    t.equal(String(await idleEnd), '', `the idle connection of ${host} is closed`)
    idle.destroy()
    t.ok(await isFree(host, port), `nothing listens at ${host}`)
  }
  for (const { host, socket, answers, rest } of connections) {
    socket.write(rest)
    const answer = { status: 200, headers: { connection: 'close' }, body: `{"name":"${host}"}` }
    t.match(await answers, [answer])
  }
  await closed
})

t.test('if ::1 is unavailable, the service listens on 127.0.0.1 alone', { skip }, async (t) => {
  const port = await freePort()
  const other = createServer().listen(port, '::1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const running = await started(t, { port })
  t.equal(portOf(running), port)
  t.equal((await fetch(`${urlAt(running, '127.0.0.1')}/health/live`)).status, 200)
  await running.close()
  t.ok(await isFree('127.0.0.1', port))
})

/** The table of TCP sockets on Linux. Each listener has a line. */
const SOCKETS = '/proc/net/tcp'

const STATE_LISTENING = '0A'

function countListeners(port: number): number {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = readFileSync(SOCKETS, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/ +/))
  return rows.filter(([, address, , state]) => address === local && state === STATE_LISTENING)
    .length
}

const noTable = existsSync(SOCKETS) ? false : `needs ${SOCKETS}`

t.test('a port has as many listeners, however many threads serve', { skip: noTable }, async (t) => {
  t.equal(countListeners(portOf(await started(t, { host: '127.0.0.1' }))), 16)
  const { port } = await startThreads(t, { threads: 2 })
  t.equal(countListeners(port), 16, 'with 2 threads')
})

t.test('a server that does not listen has no address', async (t) => {
  t.throws(() => addressOf(createServer()), { message: 'the server has no address' })
})

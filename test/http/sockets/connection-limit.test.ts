import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import {
  ConnectionCounts,
  connectionsPerThread,
  limitConnections,
} from '../../../src/http/sockets/connection-limit.ts'

/** Opens a connection. Resolves to undefined if the server closes it. */
async function open(t: Test, server: Server): Promise<Socket | undefined> {
  const { port } = server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  return once(socket, 'data', { signal: closeSignal(socket) }).then(
    () => socket,
    () => undefined,
  )
}

function closeSignal(socket: Socket): AbortSignal {
  const controller = new AbortController()
  socket.once('close', () => controller.abort())
  return controller.signal
}

t.test('connections beyond the limit are closed until there is room', async (t) => {
  const server = createServer((socket) =>
    socket
      .on('error', () => {})
      .resume()
      .write('hello'),
  )
  const counts = new ConnectionCounts(2)
  let reported = 0
  limitConnections(server, counts, () => {
    reported++
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const [first] = [await open(t, server), await open(t, server)]
  t.notOk(await open(t, server))
  t.notOk(await open(t, server))
  t.match(counts, { open: 2, refused: 2 })
  t.equal(reported, 2)
  first?.destroy()
  while ((await open(t, server)) === undefined);
  t.equal(counts.open, 2)
})

for (const [max, threads, possible, part] of [
  [2048, 1, 1_000_000, 2048],
  [2048, 8, 1_000_000, 320],
  [2048, 8, 2304, 288],
  [40, 4, 1000, 23],
  [3, 4, 1000, 3],
] as const) {
  t.test(`of ${max} connections, each of ${threads} threads accepts ${part}`, async (t) => {
    t.equal(connectionsPerThread(max, threads, possible), part)
  })
}

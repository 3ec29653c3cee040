import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { countConnections, limitConnections } from '../../../src/http/server/connection-limit.ts'
import { SharedCounter } from '../../../src/shared-memory/shared-counter.ts'

/** Two servers that limit their connections together, as threads do, each with a counter of its own. */
async function startServers(t: Test, max: number): Promise<[Server, Server]> {
  const { memory } = new SharedCounter()
  const start = async () => {
    const server = createServer((socket) =>
      socket
        .on('error', () => {})
        .resume()
        .write('hello'),
    )
    const connections = new SharedCounter(memory)
    countConnections(server, connections)
    limitConnections(server, connections, max, new SharedCounter())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    t.teardown(() => server.close())
    return server
  }
  return [await start(), await start()]
}

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

t.test('servers that share a counter limit their connections together', async (t) => {
  const [one, other] = await startServers(t, 3)
  const [first] = [await open(t, one), await open(t, other), await open(t, other)]
  t.notOk(await open(t, one))
  t.notOk(await open(t, other))
  first?.destroy()
  while ((await open(t, other)) === undefined);
  t.notOk(await open(t, one), 'a place that is free in one is free in both, once')
})

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

/** A network between a browser and a service that can fail. */
export interface Network {
  readonly url: string
  /** Cuts all connections, and refuses others. */
  disconnect(): void
  connect(): void
}

/** @param port of the service on 127.0.0.1 */
export async function startNetwork(t: Test, port: number): Promise<Network> {
  const sockets = new Set<Socket>()
  let isConnected = true
  const server = createServer((client) => {
    const service = connect(port, '127.0.0.1')
    for (const socket of [client, service]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    client.on('close', () => service.destroy())
    service.on('close', () => client.destroy())
    client.pipe(service).pipe(client)
    if (!isConnected) client.destroy()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const disconnect = () => {
    isConnected = false
    for (const socket of sockets) socket.destroy()
  }
  t.teardown(() => {
    server.close()
    disconnect()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    disconnect,
    connect: () => {
      isConnected = true
    },
  }
}

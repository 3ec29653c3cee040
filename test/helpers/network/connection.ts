/** Connections whose reads and writes the test controls. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'
import type { Caller } from '../service/service.ts'

/** A request head with the service's token. */
export function formatHead({ token }: Pick<Caller, 'token'>, line: string, headers = ''): string {
  return `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${headers}\r\n`
}

/** A connection that is closed when the test ends. */
export function openConnection(t: Test, service: Pick<Caller, 'port'>): Socket {
  const socket = connect(service.port, '127.0.0.1').on('error', () => {})
  t.teardown(() => socket.destroy())
  return socket
}

/** Whether an address is free to listen on. */
export async function isFree(host: string, port = 0): Promise<boolean> {
  const server = createServer().listen(port, host)
  return once(server, 'listening').then(
    () => new Promise<true>((resolve) => server.close(() => resolve(true))),
    () => false,
  )
}

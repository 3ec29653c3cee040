import type { Server, Socket } from 'node:net'
import type { SharedCounter } from '../../shared-memory/shared-counter.ts'

/** Counts the open connections of a server, including those that another listener passes to it. */
export function countConnections(server: Server, connections: SharedCounter): void {
  server.on('connection', (connection: Socket) => {
    connections.add(1)
    connection.once('close', () => connections.add(-1))
  })
}

/**
 * Makes a listener close new connections immediately while the process has `max` or more. Node compares
 * `maxConnections` with the listener's own connections only, and reads it for each new one.
 *
 * @param refused counts the connections closed
 */
export function limitConnections(
  listener: Server,
  connections: SharedCounter,
  max: number,
  refused: SharedCounter,
): void {
  const get = () => (connections.value < max ? Number.POSITIVE_INFINITY : 0)
  Object.defineProperty(listener, 'maxConnections', { get })
  listener.on('drop', () => refused.add(1))
}

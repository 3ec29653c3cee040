import type { Server, Socket } from 'node:net'

/** Counts of the connections of one thread. */
export class ConnectionCounts {
  open = 0
  /** New connections are closed while as many are open. */
  max: number
  /** New connections that were closed because there were too many. */
  refused = 0
  /** Connections that were closed because another request arrived before a response had ended. */
  pipelined = 0

  constructor(max: number) {
    this.max = max
  }
}

/**
 * How many connections each of several threads accepts. The system assigns connections to threads by their addresses,
 * so some threads get more than their part: by four standard deviations in one of 30,000 cases.
 *
 * @param max how many connections the process should accept
 * @param possible how many it can: no thread accepts more than an equal part of them
 */
export function connectionsPerThread(
  max: number,
  threads: number,
  possible = Number.POSITIVE_INFINITY,
): number {
  const part = max / threads
  return Math.min(max, Math.ceil(part + 4 * Math.sqrt(part)), Math.floor(possible / threads))
}

/**
 * Counts the open connections of a server, including those that another listener passes to it, and makes it close new
 * ones immediately while `counts.max` or more are open. Node compares `maxConnections` with the listener's own connections only,
 * and reads it for each new one.
 *
 * @param onRefusal is called for each connection that is closed
 */
export function limitConnections(
  server: Server,
  counts: ConnectionCounts,
  onRefusal: () => void,
): void {
  server.on('connection', (connection: Socket) => {
    counts.open++
    connection.once('close', () => counts.open--)
  })
  const get = () => (counts.open < counts.max ? Number.POSITIVE_INFINITY : 0)
  Object.defineProperty(server, 'maxConnections', { get })
  server.on('drop', () => {
    counts.refused++
    onRefusal()
  })
}

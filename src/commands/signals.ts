import type { Socket } from 'node:net'
import { constants } from 'node:os'
import type { FastifyInstance } from 'fastify'
import { latestResponse } from '../http/connections.ts'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** `npm start` forwards the signal that a terminal has sent to us already; that is no second one. */
const ECHO = 100

/** What the end of the process may take beyond the requests, in milliseconds. */
const CLOSING = 5000

/**
 * Stops on SIGINT and SIGTERM: no new connections, requests under way end, the store is closed, and
 * the process ends with code 0. A second signal ends it at once.
 *
 * @param timeout how long requests may take to end, in milliseconds; then their connections are cut
 */
export function stopOnSignal(
  app: FastifyInstance,
  store: { close(): Promise<void> },
  timeout: number,
): void {
  // Not of the requests: what goes in and out of a set at such a rate lives on until a full collection.
  const connections = new Set<Socket>()
  app.server.on('connection', (connection) => {
    connections.add(connection)
    connection.once('close', () => connections.delete(connection))
  })
  onStopSignal(() => {
    stop()
  })

  async function stop() {
    app.log.info('stopping')
    // Or their connections would stay, idle, until the time is over.
    for (const connection of connections) {
      const response = latestResponse(connection)
      if (response?.headersSent === false) response.setHeader('connection', 'close')
    }
    setTimeout(() => app.server.closeAllConnections(), timeout).unref()
    setTimeout(() => process.exit(1), timeout + CLOSING).unref()
    await app.close()
    await store.close()
    app.log.info('stopped')
  }
}

/**
 * Calls `stop` when SIGINT or SIGTERM says so, with the exit code by which shells know the signal. A
 * second signal ends the process at once, with that code.
 */
export function onStopSignal(stop: (code: number) => void): void {
  let stopped: number | undefined
  for (const signal of SIGNALS) {
    const code = 128 + constants.signals[signal]
    process.on(signal, () => {
      if (stopped === undefined) {
        stopped = performance.now()
        stop(code)
      } else if (performance.now() - stopped > ECHO) {
        process.exit(code)
      }
    })
  }
}

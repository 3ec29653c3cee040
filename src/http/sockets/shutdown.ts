import type { Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import { latestResponse } from './one-request.ts'

/**
 * Tracks the connections of an application, so that it can be shut down in bounded time. Call it before the application
 * listens.
 *
 * @param timeoutMs how long requests in flight can take to finish before their connections are cut
 * @returns a function that accepts no new connections, lets requests in flight finish, and closes the application
 */
export function gracefulShutdown(app: FastifyInstance, timeoutMs: number): () => Promise<void> {
  // Connections, not requests: entries added and removed at the rate of requests would survive until a full garbage
  // collection.
  const connections = new Set<Socket>()
  // Requests arrive on the TLS socket, not on the accepted one.
  const event = app.server instanceof TlsServer ? 'secureConnection' : 'connection'
  app.server.on(event, (connection: Socket) => {
    connections.add(connection)
    connection.once('close', () => connections.delete(connection))
  })

  return async () => {
    // Keep-alive connections would otherwise stay open, idle, until the timeout.
    for (const connection of connections) {
      const response = latestResponse(connection)
      if (response?.headersSent === false) response.setHeader('connection', 'close')
    }
    // Node's closeAllConnections() does not cover connections on which a client has sent CONNECT.
    const timer = setTimeout(() => {
      for (const connection of connections) connection.destroy()
    }, timeoutMs)
    await app.close()
    clearTimeout(timer)
  }
}

import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/config.ts'

/** How many connections can wait to be accepted. The operating system may allow fewer. */
const BACKLOG = 4096

/** The addresses of `localhost`, without asking the system's resolver (RFC 6761 §6.3). */
const LOCALHOST = { ipv4: '127.0.0.1', ipv6: '::1' }

/**
 * Listens on the configured address, or on both loopback addresses if that is `localhost`. If `::1` is
 * unavailable, logs a warning and listens on 127.0.0.1 alone.
 *
 * For `localhost` Fastify would start a second HTTP server, whose connections `app.close()` does not drain
 * (fastify/fastify#7043). Here the second listener passes its connections to the single HTTP server, which then
 * treats them like its own.
 *
 * @throws the system's error if the address, other than `::1`, is unavailable
 */
export async function listen(app: FastifyInstance, { host, port }: Config): Promise<void> {
  const isBoth = host === 'localhost'
  const second = isBoth ? secondListener(app) : undefined
  await app.listen({ host: isBoth ? LOCALHOST.ipv4 : host, port, backlog: BACKLOG })
  if (second === undefined) return
  const { port: chosen } = app.server.address() as AddressInfo
  // Read for each new connection, because it depends on the number of open ones.
  Object.defineProperty(second, 'maxConnections', { get: () => app.server.maxConnections })
  second.listen({ host: LOCALHOST.ipv6, port: chosen, backlog: BACKLOG })
  try {
    await once(second, 'listening')
    app.log.info(`Server also listening at [${LOCALHOST.ipv6}]:${chosen}`)
  } catch (error) {
    app.log.warn(`not listening at [${LOCALHOST.ipv6}]:${chosen}: ${(error as Error).message}`)
  }
}

/** A second listener for the application's HTTP server. It stops when the application closes. */
function secondListener(app: FastifyInstance): Server {
  // node:http passes the same options to its own listener.
  const listener = createServer({ allowHalfOpen: true, noDelay: true }, (connection) =>
    app.server.emit('connection', connection),
  )
  // Not `once` from node:events, which would reject if the address is unavailable.
  const closed = new Promise((resolve) => listener.once('close', resolve))
  app.addHook('preClose', async () => {
    listener.close()
  })
  // By then, the HTTP server has closed idle connections, and the others finish or are cut.
  app.addHook('onClose', async () => {
    await closed
  })
  return listener
}

import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Config } from './config.ts'

/** Connections that may wait to be accepted; the system may allow fewer. */
const BACKLOG = 4096

/** What the name `localhost` means, whatever the system resolves it to (RFC 6761 §6.3). */
const LOCALHOST = { ipv4: '127.0.0.1', ipv6: '::1' }

/**
 * Listens on the address of the settings; on both loopback addresses if that is `localhost`. The second one is
 * left out, with a warning, if it cannot be had.
 *
 * For `localhost` Fastify would start a second HTTP server, whose connections `app.close()` does not drain
 * (fastify/fastify#7043). Here the second listener hands its connections to the one HTTP server, so that
 * everything that holds for that server's own connections holds for these too.
 */
export async function listen(app: FastifyInstance, { host, port }: Config): Promise<void> {
  const isBoth = host === 'localhost'
  const second = isBoth ? secondListener(app) : undefined
  await app.listen({ host: isBoth ? LOCALHOST.ipv4 : host, port, backlog: BACKLOG })
  if (second === undefined) return
  const { port: chosen } = app.server.address() as AddressInfo
  second.maxConnections = app.server.maxConnections
  second.listen({ host: LOCALHOST.ipv6, port: chosen, backlog: BACKLOG })
  try {
    await once(second, 'listening')
    app.log.info(`Server listening at [${LOCALHOST.ipv6}]:${chosen} too`)
  } catch (error) {
    app.log.warn(`not listening at [${LOCALHOST.ipv6}]:${chosen}: ${(error as Error).message}`)
  }
}

/** A listener for the HTTP server of an application, which stops when the application is closed. */
function secondListener(app: FastifyInstance): Server {
  // The options are those that node:http gives to its own listener.
  const listener = createServer({ allowHalfOpen: true, noDelay: true }, (connection) =>
    app.server.emit('connection', connection),
  )
  // Not with `once` of node:events, which rejects when the address cannot be had.
  const closed = new Promise((resolve) => listener.once('close', resolve))
  app.addHook('preClose', async () => {
    listener.close()
  })
  // By then the HTTP server has closed what is idle; what is under way ends, or is cut.
  app.addHook('onClose', async () => {
    await closed
  })
  return listener
}

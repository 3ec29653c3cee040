import { once } from 'node:events'
import { type AddressInfo, createServer, isIPv6, type Server } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { known } from '../../../core/known.ts'
import { isLoopback, toHosts } from '../../system/loopback.ts'
import { messageOf } from '../../system/user-errors.ts'
import { type Certificate, covers } from './certificate.ts'

/**
 * How many listeners of the process share a port. In each turn of the event loop, libuv accepts one connection per
 * listener. With a single one, new connections would wait long while others keep the service busy. The system spreads
 * connections over all listeners, so threads need fewer each.
 */
const LISTENERS = 16

/** How many connections can wait to be accepted. The operating system may allow fewer. */
const BACKLOG = 4096

/** Where to listen. */
export interface Endpoint {
  /** The first one must be available. */
  readonly hosts: readonly string[]
  /** 0 for any free port. */
  readonly port: number
  /** How many connections the process has descriptors for. No limit by default. */
  readonly connectionsPossible?: number
  /** Whether other listeners can use the same port. */
  readonly reusePort?: boolean
}

/** Where a service listens. */
export interface Listening {
  /** One for each available host. */
  readonly addresses: readonly [AddressInfo, ...AddressInfo[]]
  /** Each other host, with the reason. */
  readonly unavailable: readonly string[]
}

/**
 * Prepares an application to listen on the addresses of a host. Returns a function that starts to listen, with several
 * listeners if they can share a port. That function throws the system's error if the first address is unavailable.
 *
 * For `localhost` Fastify would start a second HTTP server, whose connections `app.close()` does not drain
 * (fastify/fastify#7043). Here the other listeners pass their connections to the single HTTP server, which then treats
 * them like its own.
 *
 * @param threads how many threads serve the port
 */
export async function prepareToListen(
  app: FastifyInstance,
  host: string,
  threads: number,
): Promise<(endpoint: Endpoint) => Promise<Listening>> {
  const createGroup = (firstServer = otherListener(app)) =>
    toHosts(host).map((_, index) => (index === 0 ? firstServer : otherListener(app)))
  const first = createGroup(app.server)
  const others = Array.from({ length: Math.ceil(LISTENERS / threads) - 1 }, () => createGroup())
  await app.ready()
  return async (endpoint) => {
    const listening = await listenOn(first, endpoint)
    const { addresses } = listening
    const hosts = addresses.map(({ address }) => address)
    for (const group of endpoint.reusePort ? others : []) {
      await listenOn(group, { ...endpoint, hosts, port: addresses[0].port })
    }
    return listening
  }
}

/** Listens on each host with a server of its own, and on the port that the first one gets. */
export async function listenOn(
  servers: readonly Server[],
  { hosts, port, reusePort = false }: Endpoint,
): Promise<Listening> {
  const addresses: AddressInfo[] = []
  const unavailable: string[] = []
  for (const [index, host] of hosts.entries()) {
    const server = known(servers[index])
    const chosen = addresses[0]?.port ?? port
    try {
      server.listen({ host, port: chosen, reusePort, backlog: BACKLOG })
      await once(server, 'listening')
      addresses.push(addressOf(server))
    } catch (error) {
      if (index === 0) throw error
      unavailable.push(`${toAuthority({ address: host, port: chosen })}: ${messageOf(error)}`)
    }
  }
  const [first, ...others] = addresses
  return { addresses: [known(first), ...others], unavailable }
}

/** The address of a server that listens on a port. */
export function addressOf(server: Server): AddressInfo {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no address')
  return address
}

/** The part of a URL before the path, such as `[::1]:3000`. */
export function toAuthority({ address, port }: Pick<AddressInfo, 'address' | 'port'>): string {
  return `${isIPv6(address) ? `[${address}]` : address}:${port}`
}

/**
 * The base URL for clients on this machine. Prefers the address that the service listens on, but uses `localhost` if
 * only that name is covered by the certificate.
 */
export function localUrl(
  { address, port }: Pick<AddressInfo, 'address' | 'port'>,
  certificate?: Certificate,
): string {
  const host = address.replace(/^0\.0\.0\.0$/, '127.0.0.1').replace(/^::$/, '::1')
  const authority = toAuthority({ address: host, port })
  if (certificate === undefined) return `http://${authority}`
  const { x509 } = certificate
  const useName = isLoopback(host) && !covers(x509, host) && covers(x509, 'localhost')
  return `https://${useName ? `localhost:${port}` : authority}`
}

/** Another listener for the application's HTTP server. It stops when the application closes. */
function otherListener(app: FastifyInstance): Server {
  // node:http passes the same options to its own listener.
  const listener = createServer({ allowHalfOpen: true, noDelay: true }, (connection) =>
    app.server.emit('connection', connection),
  )
  // Not `once` from node:events, which would reject if the address is unavailable.
  const closed = new Promise((resolve) => listener.once('close', resolve))
  // Read for each new connection, because it depends on the number of open ones.
  Object.defineProperty(listener, 'maxConnections', { get: () => app.server.maxConnections })
  listener.on('drop', (data) => app.server.emit('drop', data))
  app.addHook('preClose', async () => {
    listener.close()
  })
  // By then, the HTTP server has closed idle connections, and the others finish or are cut.
  app.addHook('onClose', async () => {
    await closed
  })
  return listener
}

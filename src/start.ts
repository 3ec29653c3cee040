import { type AddressInfo, isIPv6, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { AccessTokens } from '../service/access-tokens.ts'
import { type AppOptions, buildApp } from './app.ts'
import type { Config } from './config/config.ts'
import { type Access, provideFirstToken } from './first-token.ts'
import { type Certificate, certificateOf, covers } from './http/certificate.ts'
import { latestResponse } from './http/connections.ts'
import { listen } from './http/listener.ts'
import { isLoopback } from './http/loopback.ts'
import { openStore } from './stores/engines.ts'
import type { Store } from './stores/store.ts'
import { prepareSeed } from './transfer/seed.ts'

const UNENCRYPTED =
  'other machines can connect without TLS, which exposes tokens and plants to the network: ' +
  'set --tls-certificate and --tls-key, or let only a proxy that terminates TLS reach this port'

export interface RunningService {
  /** Where a client on this machine finds it, such as `http://127.0.0.1:3000`. */
  readonly url: string
  readonly access: Access
  /** Undefined for plain HTTP. */
  readonly certificate: Certificate | undefined
  /**
   * Takes no new connections, lets the requests under way end, and closes the store. What takes longer than
   * the setting allows has its connection cut. Every call is the same one.
   */
  close(): Promise<void>
}

/**
 * Starts the service, for a process of its own as for one that has other things to do: it listens to no
 * signal and prints nothing but its log. Resolves when it listens.
 *
 * @throws ConfigError, ContractError, StoreError, StoreUnavailable, or the error of an address that cannot
 *   be had; nothing runs then
 */
export async function start(config: Config): Promise<RunningService> {
  const certificate = await certificateOf(config)
  const seedStore = await prepareSeed(config.seed)
  const store = await openStore(config)
  let app: FastifyInstance | undefined
  try {
    await seedStore(store)
    const access = await provideFirstToken(config, new AccessTokens(store, config.token))
    app = await buildApp({ config, store, logger: await logger(config), certificate })
    const close = closing(app, store, config.shutdownTimeout, certificate !== undefined)
    await listen(app, config)
    const address = app.server.address() as AddressInfo
    if (certificate === undefined && !isLoopback(address.address)) app.log.warn(UNENCRYPTED)
    return { url: urlOf(address, certificate), access, certificate, close }
  } catch (error) {
    await app?.close()
    await store.close()
    throw error
  }
}

/** JSON lines on standard error, put readably where a person looks at them. */
async function logger({ logLevel }: Config): Promise<AppOptions['logger']> {
  if (logLevel === 'silent') return false
  if (!process.stderr.isTTY) return { level: logLevel, stream: process.stderr }
  const { default: pretty } = await import('pino-pretty')
  return { level: logLevel, stream: pretty({ destination: 2, sync: true, ignore: 'pid,hostname' }) }
}

/** Where a browser on this machine finds the service. */
export function urlOf(
  { address, port }: Pick<AddressInfo, 'address' | 'port'>,
  certificate?: Certificate,
): string {
  const host = address.replace(/^0\.0\.0\.0$/, '127.0.0.1').replace(/^::$/, '::1')
  const authority = `${isIPv6(host) ? `[${host}]` : host}:${port}`
  if (certificate === undefined) return `http://${authority}`
  const { x509 } = certificate
  const named = isLoopback(host) && !covers(x509, host) && covers(x509, 'localhost')
  return `https://${named ? `localhost:${port}` : authority}`
}

/** @param timeout how long requests may take to end, in milliseconds */
function closing(
  app: FastifyInstance,
  store: Store,
  timeout: number,
  encrypted: boolean,
): () => Promise<void> {
  // Not of the requests: what goes in and out of a set at such a rate lives on until a full collection.
  const connections = new Set<Socket>()
  // With TLS, requests arrive on the TLS socket, not on the socket that was accepted.
  app.server.on(encrypted ? 'secureConnection' : 'connection', (connection: Socket) => {
    connections.add(connection)
    connection.once('close', () => connections.delete(connection))
  })
  let closed: Promise<void> | undefined
  return () => {
    closed ??= close()
    return closed
  }

  async function close() {
    app.log.info('stopping')
    // Or their connections would stay, idle, until the time is over.
    for (const connection of connections) {
      const response = latestResponse(connection)
      if (response?.headersSent === false) response.setHeader('connection', 'close')
    }
    // Node's closeAllConnections() knows nothing of a connection that a client has used for CONNECT.
    const cut = setTimeout(() => {
      for (const connection of connections) connection.destroy()
    }, timeout)
    await app.close()
    clearTimeout(cut)
    await store.close()
    app.log.info('stopped')
  }
}

import { type AddressInfo, isIPv6 } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { AccessTokens } from '../service/access-tokens.ts'
import { type AppOptions, buildApp } from './app.ts'
import type { Config } from './config/config.ts'
import { type Access, ensureFirstToken } from './first-token.ts'
import { type Certificate, covers, loadCertificate } from './http/certificate.ts'
import { listen } from './http/listener.ts'
import { gracefulShutdown } from './http/shutdown.ts'
import { isLoopback } from './loopback.ts'
import { openStore } from './stores/engines.ts'
import type { Store } from './stores/store.ts'
import { prepareSeed } from './transfer/seed.ts'

const UNENCRYPTED =
  'other machines can connect without TLS, which exposes tokens and plants to the network: ' +
  'set --tls-certificate and --tls-key, or allow only a TLS-terminating proxy to reach this port'

export interface RunningService {
  /** The base URL for clients on this machine, such as `http://127.0.0.1:3000`. */
  readonly url: string
  readonly access: Access
  /** Undefined for plain HTTP. */
  readonly certificate: Certificate | undefined
  /**
   * Stops accepting connections, finishes the requests in flight and closes the store. Cuts off requests that exceed
   * `shutdownTimeout`. Further calls return the same promise.
   */
  close(): Promise<void>
}

/**
 * Starts the service. It handles no signals and prints nothing except its log, so it can share a process with other
 * code. Resolves once it listens. If it throws, the service is stopped and the store closed.
 *
 * @throws ConfigError, ContractError, StoreError, StoreUnavailable, or the system's error if the address is unavailable
 */
export async function start(config: Config): Promise<RunningService> {
  const certificate = await loadCertificate(config)
  const seedStore = await prepareSeed(config.seed)
  const store = await openStore(config)
  let app: FastifyInstance | undefined
  try {
    await seedStore(store)
    const tokens = new AccessTokens(store, config.token)
    const access = await ensureFirstToken(config, tokens)
    app = await buildApp({
      config,
      store,
      tokens,
      logger: await loggerOptions(config),
      certificate,
    })
    const close = closeOnce(app, store, config.shutdownTimeout)
    await listen(app, config)
    const address = app.server.address() as AddressInfo
    if (certificate === undefined && !isLoopback(address.address)) app.log.warn(UNENCRYPTED)
    return { url: localUrl(address, certificate), access, certificate, close }
  } catch (error) {
    await app?.close()
    await store.close()
    throw error
  }
}

/** Logs to standard error: JSON lines, or a human-readable format on a terminal. */
async function loggerOptions({ logLevel }: Config): Promise<AppOptions['logger']> {
  if (logLevel === 'silent') return false
  if (!process.stderr.isTTY) return { level: logLevel, stream: process.stderr }
  const { default: pretty } = await import('pino-pretty')
  return { level: logLevel, stream: pretty({ destination: 2, sync: true, ignore: 'pid,hostname' }) }
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
  const authority = `${isIPv6(host) ? `[${host}]` : host}:${port}`
  if (certificate === undefined) return `http://${authority}`
  const { x509 } = certificate
  const useName = isLoopback(host) && !covers(x509, host) && covers(x509, 'localhost')
  return `https://${useName ? `localhost:${port}` : authority}`
}

/** Returns a function that closes the application, then the store. Further calls return the same promise. */
function closeOnce(app: FastifyInstance, store: Store, timeoutMs: number): () => Promise<void> {
  const shutDown = gracefulShutdown(app, timeoutMs)
  let closed: Promise<void> | undefined
  const close = async () => {
    app.log.info('stopping')
    await shutDown()
    await store.close()
    app.log.info('stopped')
  }
  return () => {
    closed ??= close()
    return closed
  }
}

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { TokenStore } from '../../service/token-store.ts'
import { AccessTokens } from '../auth/access-tokens.ts'
import { issuerKeys, type ReadKeys } from '../auth/issuer-keys.ts'
import type { IssuerTokens } from '../auth/issuer-tokens.ts'
import { type Config, TOKEN_VARIABLE } from '../config/config.ts'
import { type AppOptions, buildApp } from '../http/app.ts'
import { loadCertificate } from '../http/sockets/certificate.ts'
import { connectionsPerThread } from '../http/sockets/connection-limit.ts'
import { type Endpoint, type Listening, prepareToListen } from '../http/sockets/listener.ts'
import { gracefulShutdown } from '../http/sockets/shutdown.ts'
import type { RequestMetrics } from '../observing/request-metrics.ts'
import type { ThreadStore } from '../stores/shared/store.ts'
import type { Metrics } from '../stores/shared/store-metrics.ts'
import { listenOnAll } from './port-reservation.ts'

/** A running application: in the main thread, or one in each HTTP thread. */
export interface HttpServer {
  /** @throws the system's error if the first address is unavailable */
  listen(endpoint: Endpoint): Promise<Listening>
  /** Accepts no new connections, and finishes the requests in flight or cuts them off after `shutdownTimeout`. */
  close(): Promise<void>
  /** Resolves if requests can be served. */
  checkReady(): Promise<void>
  /** The measurements of the server and its threads so far; none without an admin port. */
  readMetrics(): Promise<Metrics>
}

export interface HttpServerOptions
  extends Omit<AppOptions, 'store' | 'tokens' | 'certificate' | 'checkReady' | 'threads'> {
  readonly store: ThreadStore
  /** How many threads serve. One by default. */
  readonly threads?: number
  /** The number of the HTTP thread, from 1. Undefined in the main thread, which measures its delays itself. */
  readonly thread?: number
  /** Resolves if the process can serve requests. By default, if the store can be read. */
  readonly checkReady?: () => Promise<void>
  /** Reads the keys of the issuer. By default, this thread does. */
  readonly readKeys?: ReadKeys
  /** See Certificate. By default, a new one. */
  readonly ticketSecret?: Uint8Array
}

/**
 * Builds what serves the requests of one thread: the certificate, the tokens, the application and its listeners.
 * Everything is ready when it resolves, except that the application does not listen yet. Closing it does not close the
 * store.
 *
 * @throws ConfigError, FileError, ContractError
 */
export async function prepareHttpServer({
  thread,
  threads = 1,
  ticketSecret,
  ...options
}: HttpServerOptions): Promise<HttpServer & { readonly app: FastifyInstance }> {
  const { config, store, log } = options
  const { checkReady = () => store.ping(), readKeys = issuerKeys(config, log) } = options
  const { adminPort, maxConnections, shutdownTimeout } = config
  const certificate = await loadCertificate(config, ticketSecret)
  const issuer = await openIssuer(config, readKeys, log)
  const { token } = config
  const fixedToken = token === undefined ? undefined : { name: TOKEN_VARIABLE, token }
  const tokens = new AccessTokens(new TokenStore(store), { fixedToken, issuer })
  const requestMetrics = adminPort === undefined ? undefined : await createMetrics(thread)
  const app = await buildApp({
    requestMetrics,
    ...options,
    certificate,
    tokens,
    checkReady,
    threads,
  })
  const listen = await prepareToListen(app, config.host, threads)
  return {
    app,
    listen: (endpoint) => {
      const { connectionsPossible } = endpoint
      const max = connectionsPerThread(maxConnections, threads, connectionsPossible)
      app.connectionCounts.max = max
      return thread === undefined ? listenOnAll([listen], endpoint) : listen(endpoint)
    },
    checkReady,
    close: gracefulShutdown(app, shutdownTimeout),
    readMetrics: async () => requestMetrics?.registry.getMetricsAsJSON() ?? [],
  }
}

async function createMetrics(thread: number | undefined): Promise<RequestMetrics> {
  const [{ RequestMetrics }, { measureEventLoop }] = await Promise.all([
    import('../observing/request-metrics.ts'),
    import('../observing/event-loop.ts'),
  ])
  const metrics = new RequestMetrics()
  // Until the thread ends.
  if (thread !== undefined) measureEventLoop(metrics.registry, `${thread}`)
  return metrics
}

/**
 * Verifies the tokens of the configured issuer, if there is one.
 *
 * @param readKeys reads the issuer's keys
 */
async function openIssuer(
  { oidcIssuer: issuer, oidcAudience: audience, oidcReadScope, oidcWriteScope }: Config,
  readKeys: ReadKeys,
  log?: FastifyBaseLogger,
): Promise<IssuerTokens | undefined> {
  if (issuer === undefined || audience === undefined) return undefined
  // Imported late, because few services have an issuer.
  const { IssuerTokens } = await import('../auth/issuer-tokens.ts')
  const scopes = { read: oidcReadScope, write: oidcWriteScope }
  return new IssuerTokens({ issuer, audience, scopes, readKeys, log })
}

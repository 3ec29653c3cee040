import { type AppOptions, buildApp } from '../app.ts'
import { connectionsPerThread } from '../http/server/connection-limit.ts'
import { type Endpoint, type Listening, prepareToListen } from '../http/server/listener.ts'
import { gracefulShutdown } from '../http/server/shutdown.ts'
import type { RequestMetrics } from '../metrics/request-metrics.ts'
import type { Metrics } from '../stores/store-metrics.ts'

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

/**
 * Builds the application. Everything is ready when it resolves, except that the application does not listen yet.
 *
 * @param thread the name of an HTTP thread in metrics; undefined in the main thread, which measures its delays itself
 */
export async function prepareHttpServer(options: AppOptions, thread?: string): Promise<HttpServer> {
  const { config, threads, checkReady } = options
  const requestMetrics = config.adminPort === undefined ? undefined : await createMetrics(thread)
  const app = await buildApp({ ...options, requestMetrics })
  const listen = await prepareToListen(app, config.host, threads)
  return {
    listen: (endpoint) => {
      const { connectionsPossible } = endpoint
      app.connectionCounts.max = connectionsPerThread(
        config.maxConnections,
        threads,
        connectionsPossible,
      )
      return listen(endpoint)
    },
    checkReady,
    close: gracefulShutdown(app, config.shutdownTimeout),
    readMetrics: async () => requestMetrics?.registry.getMetricsAsJSON() ?? [],
  }
}

async function createMetrics(thread: string | undefined): Promise<RequestMetrics> {
  const [{ RequestMetrics }, { measureEventLoop }] = await Promise.all([
    import('../metrics/request-metrics.ts'),
    import('../metrics/event-loop.ts'),
  ])
  const metrics = new RequestMetrics()
  // Until the thread ends.
  if (thread !== undefined) measureEventLoop(metrics.registry, thread)
  return metrics
}

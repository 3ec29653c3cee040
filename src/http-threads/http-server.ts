import { type AppOptions, buildApp } from '../app.ts'
import { type Endpoint, type Listening, prepareToListen } from '../http/server/listener.ts'
import { gracefulShutdown } from '../http/server/shutdown.ts'
import { MAIN_THREAD, type ThreadFigures, watchEventLoop } from '../metrics/thread-figures.ts'

/** A running application: in the main thread, or one in each HTTP thread. */
export interface HttpServer {
  /** @throws the system's error if the first address is unavailable */
  listen(endpoint: Endpoint): Promise<Listening>
  /** Accepts no new connections, and finishes the requests in flight or cuts them off after `shutdownTimeout`. */
  close(): Promise<void>
  /** Resolves if requests can be served. */
  checkReady(): Promise<void>
  /** The figures of each thread; empty if nothing is measured. */
  readonly figures: readonly ThreadFigures[]
}

/**
 * Builds the application. Everything is ready when it resolves, except that the application does not listen yet.
 *
 * @param thread see ThreadFigures
 */
export async function prepareHttpServer(
  options: AppOptions,
  thread = MAIN_THREAD,
): Promise<HttpServer> {
  const app = await buildApp(options)
  const { host, shutdownTimeout } = options.config
  const close = gracefulShutdown(app, shutdownTimeout)
  const { store, threads = 1, checkReady = () => store.ping() } = options
  const listen = await prepareToListen(app, host, threads)
  const requests = app.requestMetrics?.memory
  if (requests === undefined) return { listen, close, checkReady, figures: [] }
  const { histogram: eventLoop, stop } = watchEventLoop()
  const closeAll = async () => {
    await close()
    stop()
  }
  return { listen, close: closeAll, checkReady, figures: [{ thread, requests, eventLoop }] }
}

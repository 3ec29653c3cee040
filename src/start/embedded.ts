import { newToken } from '../../service/access-tokens.ts'
import { type Config, embeddedConfig } from '../config/config.ts'
import { IN_MEMORY } from '../stores/shared/engine.ts'
import { start } from './start.ts'

/**
 * Options of `startPlantStore`. Times are in milliseconds, sizes in bytes. The defaults are those of the command line,
 * except that the database is in memory, the port is a free one, the log is silent and one thread serves HTTP. The
 * environment sets none of them.
 */
export interface PlantStoreOptions extends Partial<Omit<Config, 'readyJson' | 'adminPort'>> {
  /** A port of 127.0.0.1, or an address with a port such as `0.0.0.0:3001`. */
  readonly adminPort?: number | string
}

/** A plant store running in this process. */
export interface RunningPlantStore extends AsyncDisposable {
  /** The base URL, such as `http://127.0.0.1:40123`. */
  readonly url: string
  /** The base URL of `/metrics`, `/health/live` and `/health/ready`, if the options contain `adminPort`. */
  readonly adminUrl: string | undefined
  /** The token from the options, or a new one. It has all scopes. */
  readonly token: string
  /** Finishes the requests in flight, then releases all resources. Further calls return the same promise. */
  close(): Promise<void>
}

/** How long a test process must be idle before a store that is still open counts as forgotten. */
const IDLE_MS = 5000

/** The greatest part of its time in which the event loop of an idle process is busy. */
const IDLE_UTILIZATION = 0.01

/**
 * Implements `startPlantStore`.
 *
 * @param startedAt the stack trace of the call, without its message
 */
export async function startEmbedded(
  options: PlantStoreOptions,
  startedAt: string,
): Promise<RunningPlantStore> {
  const token = options.token ?? newToken()
  const { database = IN_MEMORY, port = 0, logLevel = 'silent', threads = 1 } = options
  const config = embeddedConfig({ ...options, database, port, logLevel, threads, token })
  const service = await start(config)
  const { url, adminUrl } = service
  const watch = watchTestProcess(url, startedAt)
  const close = () => {
    clearInterval(watch)
    return service.close()
  }
  return { url, adminUrl, token, close, [Symbol.asyncDispose]: close }
}

/**
 * An open store keeps its process alive, so `node --test` waits for a file that has forgotten to close one, and does not
 * say why. Warns in such a process once it is idle.
 */
function watchTestProcess(url: string, startedAt: string): NodeJS.Timeout | undefined {
  // Set by `node --test` for each test file.
  if (process.env.NODE_TEST_CONTEXT === undefined) return undefined
  let before = performance.eventLoopUtilization()
  const watch = setInterval(() => {
    const now = performance.eventLoopUtilization()
    if (performance.eventLoopUtilization(now, before).utilization < IDLE_UTILIZATION) {
      clearInterval(watch)
      const message = `the plant store at ${url} keeps this process running until its close() is called`
      process.emitWarning(message, { detail: `It was started here:\n${startedAt}` })
    }
    before = now
  }, IDLE_MS)
  return watch.unref()
}

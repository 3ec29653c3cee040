import { newToken } from '../auth/access-tokens.ts'
import { type Config, ConfigError, embeddedConfig } from '../config/config.ts'
import type { Fault, RecordedRequest } from '../faults/fault.ts'
import type { FaultInjection } from '../faults/fault-injection.ts'
import { IN_MEMORY } from '../stores/shared/engine.ts'
import { type RunningService, start } from './start.ts'

/**
 * Options of `startPlantStore`. Times are in milliseconds, sizes in bytes. The defaults are those of the command line,
 * except that the database is in memory, the port is a free one, the log is silent and one thread serves HTTP. The
 * environment sets none of them.
 */
export interface PlantStoreOptions
  extends Partial<Omit<Config, 'readyJson' | 'adminPort' | 'faults'>> {
  /** A port of 127.0.0.1, or an address with a port such as `0.0.0.0:3001`. */
  readonly adminPort?: number | string
  /** Makes requests fail on demand; `[]` to begin without faults. Or the name of a file with JSON. */
  readonly faults?: readonly Fault[] | string
}

/** A plant store running in this process. */
export interface RunningPlantStore extends AsyncDisposable {
  /** The base URL, such as `http://127.0.0.1:40123`. */
  readonly url: string
  /**
   * The base URL of `/metrics`, `/health/live` and `/health/ready`, if the options contain `adminPort`. With `faults`,
   * also that of `/faults`, `/requests` and `/store`.
   */
  readonly adminUrl: string | undefined
  /** The token from the options, or a new one. It has all scopes. */
  readonly token: string
  /**
   * The latest 10,000 requests in the order in which they arrived, except those that need no token.
   *
   * @throws ConfigError unless the store was started with the option `faults`
   */
  readonly requests: readonly RecordedRequest[]
  /**
   * Forgets these requests.
   *
   * @throws ConfigError unless the store was started with the option `faults`
   */
  clearRequests(): void
  /**
   * Replaces all faults. Their counts begin again.
   *
   * @throws ConfigError if a fault is invalid, or unless the store was started with the option `faults`
   */
  setFaults(faults: readonly Fault[]): void
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
  return new EmbeddedStore(service, token, watchTestProcess(service.url, startedAt))
}

class EmbeddedStore implements RunningPlantStore {
  readonly url: string
  readonly adminUrl: string | undefined
  readonly token: string
  // Properties, so that they can be called without the object.
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose] = () => this.close()
  readonly #injection: FaultInjection | undefined

  constructor(service: RunningService, token: string, watch: NodeJS.Timeout | undefined) {
    this.url = service.url
    this.adminUrl = service.adminUrl
    this.token = token
    this.#injection = service.faults?.injection
    this.close = () => {
      clearInterval(watch)
      return service.close()
    }
  }

  get requests(): readonly RecordedRequest[] {
    return this.#requireFaults('requests').requests
  }

  clearRequests(): void {
    this.#requireFaults('clearRequests').clearRequests()
  }

  setFaults(faults: readonly Fault[]): void {
    this.#requireFaults('setFaults').setFaults(faults)
  }

  #requireFaults(name: string): FaultInjection {
    if (this.#injection !== undefined) return this.#injection
    throw new ConfigError(
      `${name} requires a store that was started with faults, such as startPlantStore({ faults: [] })`,
    )
  }
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

import { assertSupportedNode } from '#node-version'
import type { Config } from './config/config.ts'

// All other modules are imported on demand: on an old version of Node, they fail to load with less helpful errors.
assertSupportedNode()

/**
 * Options of `startPlantStore`. Times are in milliseconds, sizes in bytes. The defaults are those of the command line,
 * except that the database is in memory, the port is a free one, the log is silent and one thread serves HTTP. The
 * environment is not read.
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

/**
 * Starts a plant store in this process, for example in a test. Several can run at once, each with its own plants.
 * Resolves once it listens.
 *
 * @throws ConfigError if an option is invalid or unknown, and every other error that stops the command from starting
 *
 * @example
 * await using store = await startPlantStore()
 * await fetch(`${store.url}/plants`, { headers: { authorization: `Bearer ${store.token}` } })
 */
export async function startPlantStore(options: PlantStoreOptions = {}): Promise<RunningPlantStore> {
  const { startEmbedded } = await import('./embedded.ts')
  return startEmbedded(options)
}

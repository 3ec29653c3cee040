import { newToken } from '../service/access-tokens.ts'
import { type Config, embeddedConfig } from './config/config.ts'
import { start } from './start.ts'
import { IN_MEMORY } from './stores/engine.ts'

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

/** Implements `startPlantStore`. */
export async function startEmbedded(options: PlantStoreOptions): Promise<RunningPlantStore> {
  const token = options.token ?? newToken()
  const { database = IN_MEMORY, port = 0, logLevel = 'silent', threads = 1 } = options
  const config = embeddedConfig({ ...options, database, port, logLevel, threads, token })
  const { url, adminUrl, close } = await start(config)
  return { url, adminUrl, token, close, [Symbol.asyncDispose]: close }
}

import { newToken } from '../service/access-tokens.ts'
import { type Config, configOf } from './config/config.ts'
import { start } from './start.ts'
import { IN_MEMORY } from './stores/sqlite/memory.ts'

/**
 * What `startPlantStore` can be told. Times are in milliseconds, sizes in bytes; what is not said is as on
 * the command line but for the database, which is in memory, the port, which is a free one, and the log,
 * which is silent. The environment is not read.
 */
export type PlantStoreOptions = Partial<Omit<Config, 'readyJson'>>

/** A plant store that runs in this process. */
export interface RunningPlantStore extends AsyncDisposable {
  /** Where it listens, such as `http://127.0.0.1:40123`. */
  readonly url: string
  /** The token of the options, or one that was made for this run. It has all scopes. */
  readonly token: string
  /** Lets the requests under way end, then lets go of all that it holds. May be called again. */
  close(): Promise<void>
}

/**
 * Starts a plant store in this process, for tests and the like: any number of them at once, each with its own
 * plants. Resolves when it serves.
 *
 * @throws ConfigError if an option is bad or unknown, and whatever else would stop the command
 */
export async function startPlantStore(options: PlantStoreOptions = {}): Promise<RunningPlantStore> {
  const token = options.token ?? newToken()
  const { database = IN_MEMORY, port = 0, logLevel = 'silent' } = options
  const config = configOf({ ...options, database, port, logLevel, token })
  const { url, close } = await start(config)
  return { url, token, close, [Symbol.asyncDispose]: close }
}

import { newToken } from '../service/access-tokens.ts'
import { embeddedConfig } from './config/config.ts'
import type { PlantStoreOptions, RunningPlantStore } from './index.ts'
import { start } from './start.ts'
import { IN_MEMORY } from './stores/in-memory.ts'

/** Implements `startPlantStore`. */
export async function startEmbedded(options: PlantStoreOptions): Promise<RunningPlantStore> {
  const token = options.token ?? newToken()
  const { database = IN_MEMORY, port = 0, logLevel = 'silent', threads = 1 } = options
  const config = embeddedConfig({ ...options, database, port, logLevel, threads, token })
  const { url, adminUrl, close } = await start(config)
  return { url, adminUrl, token, close, [Symbol.asyncDispose]: close }
}

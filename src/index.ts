import { assertSupportedNode } from '#node-version'
import type { Fault, RecordedRequest } from './faults/fault.ts'
import type { PlantStoreOptions, RunningPlantStore } from './start/embedded.ts'

export type { Fault, PlantStoreOptions, RecordedRequest, RunningPlantStore }

// All other modules are imported on demand: on an old version of Node, they fail to load with less helpful errors.
assertSupportedNode()

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
  const { stack = '' } = new Error()
  const { startEmbedded } = await import('./start/embedded.ts')
  return startEmbedded(options, stack.split('\n').slice(2).join('\n'))
}

import { ThreadModule } from '../../../src/threads/thread-module.ts'

interface Work {
  readonly files: readonly string[]
  readonly threads: number
  /** The number of times that any thread was ready, shared by all threads. */
  readonly ready: Int32Array
}

/** Opens databases at the same moments as other threads, and sends the results. */
export const openingThread = new ThreadModule<Work>('open-in-thread', import.meta.url)

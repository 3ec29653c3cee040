import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { StoreUnavailable } from '../../../service/plant-store.ts'
import type { DatabaseOptions } from './database.ts'
import type { Change, ChangeResult } from './writer.ts'

/** What the thread is told. */
export type Order = readonly Change[] | 'close'

/** What it answers to changes. */
export type Outcome =
  | { readonly results: ChangeResult[] }
  | { readonly unavailable: Pick<StoreUnavailable, 'reason' | 'detail'> }
  | { readonly error: unknown }

/**
 * A Writer in a thread of its own. Should the thread ever end by itself, its `error` event, for which
 * nobody listens, ends the process: without a writer there is no service.
 */
export class ThreadedWriter {
  readonly #worker: Worker
  #pending = Promise.withResolvers<ChangeResult[]>()

  constructor(options: DatabaseOptions) {
    this.#worker = new Worker(new URL('./writer-thread.ts', import.meta.url), {
      workerData: options,
    })
    this.#worker.on('message', (outcome: Outcome) => {
      if ('results' in outcome) return this.#pending.resolve(outcome.results)
      if ('error' in outcome) return this.#pending.reject(outcome.error)
      const { reason, detail } = outcome.unavailable
      this.#pending.reject(new StoreUnavailable(reason, detail))
    })
  }

  /** As Writer has it; one call at a time. */
  commit(changes: readonly Change[]): Promise<ChangeResult[]> {
    this.#pending = Promise.withResolvers()
    this.#tell(changes)
    return this.#pending.promise
  }

  async close(): Promise<void> {
    this.#tell('close')
    await once(this.#worker, 'exit')
  }

  #tell(order: Order): void {
    this.#worker.postMessage(order)
  }
}

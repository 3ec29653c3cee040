import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { StoreUnavailable } from '../../../service/plant-store.ts'
import type { DatabaseOptions } from './database.ts'
import { startThread } from './thread.ts'
import type { Change, ChangeResult } from './writer.ts'

/** What the thread is told. The time, in milliseconds since 1970, is until when it may wait for a lock. */
export type WriterRequest =
  | { readonly changes: readonly Change[]; readonly until: number }
  | 'close'

/** What it answers to changes. */
export type WriterReply =
  | { readonly results: ChangeResult[] }
  | { readonly unavailable: Pick<StoreUnavailable, 'reason' | 'detail'> }
  | { readonly error: unknown }

/**
 * A Writer in a thread of its own. Should the thread ever end by itself, its `error` event, for which
 * nobody listens, ends the process: without a writer there is no service.
 */
export class ThreadedWriter {
  readonly #worker: Worker
  readonly #lockTimeout: number
  /** What was asked for and is not answered, in that order. */
  readonly #pending: PromiseWithResolvers<ChangeResult[]>[] = []

  constructor(options: DatabaseOptions) {
    this.#lockTimeout = options.lockTimeout
    this.#worker = startThread('writer-thread', { workerData: options })
    this.#worker.on('message', (reply: WriterReply) => {
      const first = this.#pending.shift()
      if ('results' in reply) return first?.resolve(reply.results)
      if ('error' in reply) return first?.reject(reply.error)
      const { reason, detail } = reply.unavailable
      first?.reject(new StoreUnavailable(reason, detail))
    })
  }

  /** As Writer has it; several calls are made one after the other. */
  commit(changes: readonly Change[]): Promise<ChangeResult[]> {
    const pending = Promise.withResolvers<ChangeResult[]>()
    // Before it is kept, as what cannot be sent to a thread throws.
    this.#tell({ changes, until: Date.now() + this.#lockTimeout })
    this.#pending.push(pending)
    return pending.promise
  }

  async close(): Promise<void> {
    this.#tell('close')
    await once(this.#worker, 'exit')
  }

  #tell(request: WriterRequest): void {
    this.#worker.postMessage(request)
  }
}

import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { StoreUnavailable } from '../../../service/plant-store.ts'
import type { DatabaseOptions } from './database.ts'
import { ThreadModule } from './thread.ts'
import type { Change, ChangeResult } from './writer.ts'

export const writerThread = new ThreadModule<DatabaseOptions>('writer-thread', import.meta.url)

/** Sent to the thread. The deadline for getting the lock is in milliseconds since 1970. */
export type WriterRequest =
  | { readonly changes: readonly Change[]; readonly deadline: number }
  | 'close'

/** The response to changes. */
export type WriterReply =
  | { readonly results: ChangeResult[] }
  | { readonly unavailable: Pick<StoreUnavailable, 'reason' | 'detail'> }
  | { readonly error: unknown }

/**
 * A Writer in a thread of its own. If the thread ever ends unexpectedly, its unhandled `error` event ends the process:
 * without a writer there is no service.
 */
export class ThreadedWriter {
  readonly #worker: Worker
  readonly #lockTimeout: number
  /** Requests without a reply, in order. */
  readonly #pending: PromiseWithResolvers<ChangeResult[]>[] = []

  constructor(options: DatabaseOptions) {
    this.#lockTimeout = options.lockTimeout
    this.#worker = writerThread.start(options)
    this.#worker.on('message', (reply: WriterReply) => {
      const first = this.#pending.shift()
      if ('results' in reply) return first?.resolve(reply.results)
      if ('error' in reply) return first?.reject(reply.error)
      const { reason, detail } = reply.unavailable
      first?.reject(new StoreUnavailable(reason, detail))
    })
  }

  /** See Writer.commit. Calls are executed in order. */
  commit(changes: readonly Change[]): Promise<ChangeResult[]> {
    const pending = Promise.withResolvers<ChangeResult[]>()
    // Sent first, because sending a value that cannot be cloned throws.
    this.#send({ changes, deadline: Date.now() + this.#lockTimeout })
    this.#pending.push(pending)
    return pending.promise
  }

  async close(): Promise<void> {
    this.#send('close')
    await once(this.#worker, 'exit')
  }

  #send(request: WriterRequest): void {
    this.#worker.postMessage(request)
  }
}

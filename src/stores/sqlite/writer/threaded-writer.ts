import type { MessagePort } from 'node:worker_threads'
import { fromReply, type Reply } from '../../../threads/reply.ts'
import type { Change, ChangeResult } from './writer.ts'

/** Sent to the writer's thread. */
export interface WriterRequest {
  readonly changes: readonly Change[]
  /** For getting the lock, on the clock of `process.hrtime.bigint`, which all threads share and which cannot be set. */
  readonly deadline: bigint
}

export type WriterReply = Reply<ChangeResult[]>

/** A store that waits for its changes cannot close before. Deliveries to webhooks repeat theirs by themselves. */
const REPEATABLE_TIMEOUT_MS = 500
const REPEATABLE: readonly Change[0][] = ['leaseWebhooks', 'releaseWebhooks', 'saveWebhookProgress']

const NANOSECONDS_PER_MS = 1e6

/** Makes changes in the writer's thread, for one of the threads that share it. */
export class ThreadedWriter {
  readonly #port: MessagePort
  readonly #lockTimeout: number
  /** Requests without a reply, in order. */
  readonly #pending: PromiseWithResolvers<ChangeResult[]>[] = []

  /** @param port of `WriterOwner.connect` */
  constructor(port: MessagePort, lockTimeout: number) {
    this.#port = port
    this.#lockTimeout = lockTimeout
    port.on('message', (reply: WriterReply) => fromReply(reply, this.#pending.shift()))
  }

  /** See Writer.commit. Calls are executed in order. */
  commit(changes: readonly Change[]): Promise<ChangeResult[]> {
    const pending = Promise.withResolvers<ChangeResult[]>()
    const timeout = changes.every(isRepeatable)
      ? Math.min(REPEATABLE_TIMEOUT_MS, this.#lockTimeout)
      : this.#lockTimeout
    const deadline = process.hrtime.bigint() + BigInt(Math.round(timeout * NANOSECONDS_PER_MS))
    const request: WriterRequest = { changes, deadline }
    // Sent first, because sending a value that cannot be cloned throws.
    this.#port.postMessage(request)
    this.#pending.push(pending)
    return pending.promise
  }

  close(): void {
    this.#port.close()
  }
}

function isRepeatable([name]: Change): boolean {
  return REPEATABLE.includes(name)
}

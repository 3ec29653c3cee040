import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads'
import { lastKnown } from '../../../system/last-known.ts'
import { RemoteCalls } from '../../../system/remote-calls.ts'
import { fromReply, type Reply } from '../../../system/reply.ts'
import { requireThread, ThreadModule } from '../../../system/thread-module.ts'
import type { OnProblem } from '../../shared/engine.ts'
import type { Size } from '../../shared/group-commit.ts'
import type { Metrics } from '../../shared/store-metrics.ts'
import { CommitSignal } from '../feed/commit-signal.ts'
import type { SqliteOptions } from '../file/database.ts'
import type { CommitResult, WriteCall } from './write-call.ts'

/** Sent to the writer's thread. */
export interface WriterRequest {
  readonly changes: readonly WriteCall[]
  /** Of all changes. */
  readonly size: Size
  /** When to stop waiting for the lock, by the clock of `process.hrtime.bigint`, which all threads share. */
  readonly deadline: bigint
}

export type WriterReply = Reply<CommitResult[]>

const NANOSECONDS_PER_MS = 1e6

/** Makes changes in the writer's thread, for one of the threads that share it. */
export class WriterClient {
  readonly #port: MessagePort
  readonly #lockTimeout: number
  /** Requests without a reply, in order. */
  readonly #pending: PromiseWithResolvers<CommitResult[]>[] = []

  /** @param port of `WriterHost.connect` */
  constructor(port: MessagePort, lockTimeout: number) {
    this.#port = port
    this.#lockTimeout = lockTimeout
    port.on('message', (reply: WriterReply) => fromReply(reply, this.#pending.shift()))
  }

  /** See Writer.commit. Calls are executed in order. */
  commit(changes: readonly WriteCall[], size: Size): Promise<CommitResult[]> {
    const pending = Promise.withResolvers<CommitResult[]>()
    const timeout = BigInt(Math.round(this.#lockTimeout * NANOSECONDS_PER_MS))
    const deadline = process.hrtime.bigint() + timeout
    const request: WriterRequest = { changes, size, deadline }
    // Sent first, because sending a value that cannot be cloned throws.
    this.#port.postMessage(request)
    this.#pending.push(pending)
    return pending.promise
  }

  close(): void {
    this.#port.close()
  }
}

export interface WriterOptions extends SqliteOptions {
  /** Memory of a CommitSignal. */
  readonly commits: SharedArrayBuffer
  /** Serves calls of WriterMethods. Without it, commits are not measured. */
  readonly metrics: MessagePort | undefined
}

/** Calls of the host to the thread. */
export interface WriterMethods {
  readMetrics(): Promise<Metrics>
}

export const writerThread = new ThreadModule<WriterOptions>('writer-thread', import.meta.url)

/** Sent to the thread by its host. The port of a client carries a WriterRequest or a WriterReply. */
export type WriterCommand = { readonly client: MessagePort } | 'close'

/** Sent by the thread to its host: see StoreOptions.onProblem. */
export interface WriterProblem {
  readonly problem: string
}

/** Starts and stops the thread that makes the changes of all threads. If it ends unexpectedly, so does the process. */
export class WriterHost {
  /** Signals the commits of the thread. A reader whose snapshot is older must take a new one. */
  readonly commits = new CommitSignal()
  /**
   * Reads the commits and checkpoints measured so far. The disk can block the thread, so they can be old. Undefined if
   * nothing is measured.
   */
  readonly readMetrics?: () => Promise<Metrics>
  readonly #worker: Worker
  readonly #allowEnd: () => Promise<void>

  constructor(options: SqliteOptions, isMeasured = false, onProblem?: OnProblem) {
    const name = 'plant-writer'
    const data = { ...options, commits: this.commits.memory }
    if (isMeasured) {
      const { port1, port2: metrics } = new MessageChannel()
      const calls = new RemoteCalls<WriterMethods>(port1, name)
      this.readMetrics = lastKnown(() => calls.call('readMetrics'), [])
      this.#worker = writerThread.start({ ...data, metrics }, { name, transferList: [metrics] })
    } else {
      this.#worker = writerThread.start({ ...data, metrics: undefined }, { name })
    }
    this.#allowEnd = requireThread(this.#worker, name)
    if (onProblem === undefined) return
    this.#worker.on('message', ({ problem }: WriterProblem) => onProblem(problem))
  }

  /** A port for the WriterClient of one thread. */
  connect(): MessagePort {
    const { port1, port2 } = new MessageChannel()
    this.#send({ client: port1 }, [port1])
    return port2
  }

  /** Ends the thread. All clients must have received their replies. */
  async close(): Promise<void> {
    const ended = this.#allowEnd()
    this.#send('close')
    await ended
  }

  #send(command: WriterCommand, transferList: MessagePort[] = []): void {
    this.#worker.postMessage(command, transferList)
  }
}

import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  type Worker,
} from 'node:worker_threads'
import type { Database } from 'better-sqlite3'
import { StoreUnavailable } from '../../../service/plant-store.ts'
import { type DatabaseOptions, LOG_PAGES } from './database.ts'
import { storeError } from './errors.ts'
import { startThread } from './thread.ts'

/** How the log stands, in pages: how long it is, and how much of it is written back. */
export interface Log {
  readonly log: number
  readonly checkpointed: number
}

/** What the thread is told. It sends a message when it is ready, and when a checkpoint is done. */
export type CheckpointRequest = 'checkpoint' | 'close'

/** What the thread has to know. */
export interface CheckpointOptions extends DatabaseOptions {
  readonly port: MessagePort
}

/**
 * Writes the log back into the database whenever it has become long. A log starts anew only when all of
 * it is written back, so a thread of its own writes most of it while commits go on, and then the writer
 * the little that has come meanwhile. Were all of it the writer's, commits would wait as long as thousands
 * of pages take, all over the database if ids are random.
 */
export class Checkpointer {
  readonly #options: DatabaseOptions
  readonly #pages: number
  readonly #look: () => Log
  readonly #writeBack: () => Log
  #thread: { readonly worker: Worker; readonly port: MessagePort } | undefined
  #ready = false
  #atWork = false
  #due: number

  /**
   * @param db the writer's connection, which leaves the log to this from now on
   * @param options what it was opened with
   * @param pages how long the log may become before it is written back
   */
  constructor(db: Database, options: DatabaseOptions, pages = LOG_PAGES) {
    db.pragma('wal_autocheckpoint = 0')
    this.#look = checkpoint(db, 'NOOP')
    this.#writeBack = checkpoint(db, 'PASSIVE')
    this.#options = options
    this.#pages = pages
    this.#due = pages
  }

  /** To be called after each commit. */
  committed(): void {
    if (this.#atWork) {
      if (this.#hears()) this.#finish()
      return
    }
    const { log } = this.#look()
    // It takes a while to start, and few services need it.
    if (log >= this.#pages / 2) this.#thread ??= this.#start()
    if (log < this.#due) return
    this.#ready ||= this.#hears()
    if (this.#ready) {
      this.#atWork = true
      this.#tell('checkpoint')
    } else {
      this.#finish()
    }
  }

  /** Resolves when the thread has closed its connection, so that the writer's is the last of the two. */
  async close(): Promise<void> {
    const exit = Promise.withResolvers<void>()
    if (this.#thread === undefined) return
    this.#thread.worker.on('exit', exit.resolve)
    this.#tell('close')
    await exit.promise
  }

  #start() {
    const { port1, port2 } = new MessageChannel()
    const workerData: CheckpointOptions = { ...this.#options, port: port1 }
    const worker = startThread('checkpoint-thread', { workerData, transferList: [port1] })
    // It cannot open the database, for want of file descriptors perhaps. Then all is the writer's.
    worker.on('error', () => {
      this.#thread = undefined
      this.#ready = false
      this.#atWork = false
    })
    return { worker, port: port2 }
  }

  /** Whether there is a message; an event of it would wait behind a thousand orders to the writer. */
  #hears(): boolean {
    return this.#thread !== undefined && receiveMessageOnPort(this.#thread.port) !== undefined
  }

  #tell(request: CheckpointRequest): void {
    this.#thread?.port.postMessage(request)
  }

  #finish(): void {
    const { log, checkpointed } = this.#writeBack()
    this.#atWork = false
    // What a snapshot still needs stays. Most last for less than a commit, but that of an export does not,
    // and to try again with each commit would cost more than it gains.
    this.#due = checkpointed === log ? this.#pages : log + this.#pages / 16
  }
}

/**
 * Prepares a checkpoint (https://www.sqlite.org/pragma.html#pragma_wal_checkpoint) and says how the log
 * stands behind it, with zeros if it cannot be made now: the log keeps what was not written back.
 */
export function checkpoint(db: Database, mode: 'NOOP' | 'PASSIVE'): () => Log {
  const statement = db.prepare<[], Log>(`PRAGMA wal_checkpoint(${mode})`).safeIntegers(false)
  return () => {
    try {
      return statement.get() as Log
    } catch (error) {
      if (storeError(error) instanceof StoreUnavailable) return { log: 0, checkpointed: 0 }
      throw error
    }
  }
}

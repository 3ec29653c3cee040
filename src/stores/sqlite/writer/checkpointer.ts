import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  type Worker,
} from 'node:worker_threads'
import type { Database } from 'better-sqlite3'
import { known } from '../../../../core/known.ts'
import { StoreUnavailable } from '../../../../service/store/plant-store.ts'
import { ThreadModule } from '../../../system/thread-module.ts'
import type { OnProblem } from '../../shared/engine.ts'
import { type SqliteOptions, WAL_PAGES } from '../file/database.ts'
import { OpenFile } from '../file/file-identity.ts'
import { mapError } from '../file/sqlite-errors.ts'
import type { SqliteMetrics } from './sqlite-metrics.ts'

/** The state of the WAL, in pages: its length, and how much of it has been written back. */
export interface WalState {
  /** 1 if other connections prevented the checkpoint from completing, or if it failed. */
  readonly busy: number
  readonly log: number
  readonly checkpointed: number
  /** Why a checkpoint failed, such as `SQLITE_IOERR_WRITE`. It is no failure if other connections prevent it. */
  readonly failure?: string
}

/** It could not run, which loses nothing. */
const NOT_RUN: WalState = { busy: 1, log: 0, checkpointed: 0 }

/** How often to read the length of the WAL. It takes a tenth as long as a commit, and few pages are added meanwhile. */
const INSPECTION_INTERVAL_MS = 10

/** How long to wait after a failure: each attempt can take seconds on a failing disk. */
const RETRY_MS = 10_000

/** Sent to the thread. */
export type CheckpointRequest = 'checkpoint' | 'close'

/** Sent by the thread when it is ready, and after each checkpoint with its duration in milliseconds. */
export type CheckpointReply = 'ready' | number

export interface CheckpointOptions extends SqliteOptions {
  readonly port: MessagePort
}

export interface CheckpointerSettings {
  /** The length of the WAL at which it is written back. */
  readonly pages?: number
  /** The minimum time between readings of that length, in milliseconds. */
  readonly intervalMs?: number
  /** The minimum time between a failure and the next checkpoint, in milliseconds. */
  readonly retryMs?: number
  /** Measures how long the thread and the writer take to write a WAL back, and counts the failures. */
  readonly metrics?: Pick<SqliteMetrics, 'checkpoint' | 'checkpointFailures'> | undefined
  /** See StoreOptions. */
  readonly onProblem?: OnProblem
}

export const checkpointThread = new ThreadModule<CheckpointOptions>(
  'checkpoint-thread',
  import.meta.url,
)

/**
 * Writes the WAL back into the database when it has become long. SQLite reuses the WAL file only after all of it is
 * written back. So a separate thread writes most of it while commits continue, and the writer then writes the few
 * pages that were added meanwhile. If the writer wrote everything, commits would wait for thousands of pages, scattered
 * over the database if ids are random.
 */
export class Checkpointer {
  readonly #options: SqliteOptions
  readonly #settings: CheckpointerSettings
  readonly #pages: number
  readonly #intervalMs: number
  readonly #inspect: () => WalState
  readonly #checkpoint: () => WalState
  readonly #truncate: () => WalState
  #thread: { readonly worker: Worker; readonly port: MessagePort } | undefined
  #isReady = false
  #isRunning = false
  /** The length of the WAL at which the next checkpoint starts. */
  #due: number
  /** The earliest time of the next inspection, in milliseconds of a monotonic clock. */
  #nextInspection = 0

  /**
   * @param db the writer's connection; its automatic checkpoints are turned off
   * @param options of that connection
   */
  constructor(db: Database, options: SqliteOptions, settings: CheckpointerSettings = {}) {
    const { pages = WAL_PAGES, intervalMs = INSPECTION_INTERVAL_MS } = settings
    db.pragma('wal_autocheckpoint = 0')
    const file = new OpenFile(options.file, options.identity, options.damage)
    const { mapError } = file
    this.#inspect = prepareCheckpoint(db, 'NOOP', mapError)
    const checkpoint = prepareCheckpoint(db, 'PASSIVE', mapError)
    this.#checkpoint = () => (file.isInPlace() ? checkpoint() : NOT_RUN)
    const truncate = prepareCheckpoint(db, 'TRUNCATE', mapError)
    this.#truncate = () => {
      const timeout = db.pragma('busy_timeout', { simple: true })
      // A snapshot can last for minutes, and a change may arrive meanwhile.
      db.pragma('busy_timeout = 0')
      const state = truncate()
      db.pragma(`busy_timeout = ${timeout}`)
      return state
    }
    this.#options = options
    this.#settings = settings
    this.#pages = pages
    this.#intervalMs = intervalMs
    this.#due = pages
  }

  /** Must be called after each commit. */
  afterCommit(): void {
    if (this.#isRunning) {
      const reply = this.#receive()
      if (reply !== undefined) this.#finish(Number(reply))
      return
    }
    const now = performance.now()
    if (now < this.#nextInspection) return
    this.#nextInspection = now + this.#intervalMs
    const { log } = this.#inspect()
    // Started early, because that takes a while, but only when needed, because few services fill the WAL.
    if (log >= this.#pages / 2) this.#thread ??= this.#start()
    if (log < this.#due) return
    this.#isReady ||= this.#receive() !== undefined
    if (this.#isReady) {
      this.#isRunning = true
      this.#send('checkpoint')
    } else {
      this.#finish()
    }
  }

  /**
   * Must be called repeatedly while there are no commits. Shortens a WAL that has become long, such as during an export:
   * SQLite would keep its length until later commits start it over.
   */
  whenIdle(): void {
    if (!this.#isRunning) {
      const { log, checkpointed } = this.#inspect()
      if (log < this.#pages) return
      this.#due = this.#pages
      if (checkpointed === log) {
        this.#truncate()
        return
      }
    }
    this.afterCommit()
  }

  /** Resolves when the thread has closed its connection: the writer's must be closed last. */
  async close(): Promise<void> {
    const exit = Promise.withResolvers<void>()
    if (this.#thread === undefined) return
    this.#thread.worker.on('exit', exit.resolve)
    this.#send('close')
    await exit.promise
  }

  #start() {
    const { port1, port2 } = new MessageChannel()
    const worker = checkpointThread.start(
      { ...this.#options, port: port1 },
      { name: 'plant-checkpoint', transferList: [port1] },
    )
    // The thread cannot open the database, perhaps for lack of file descriptors. The writer then does all of the work.
    worker.on('error', () => {
      this.#thread = undefined
      this.#isReady = false
      this.#isRunning = false
    })
    return { worker, port: port2 }
  }

  /** What the thread has sent, if anything. Polled, because an event would be queued after the writer's requests. */
  #receive(): CheckpointReply | undefined {
    return this.#thread && receiveMessageOnPort(this.#thread.port)?.message
  }

  #send(request: CheckpointRequest): void {
    this.#thread?.port.postMessage(request)
  }

  /** @param threadMs how long the thread took */
  #finish(threadMs = 0): void {
    const { metrics, onProblem, retryMs = RETRY_MS } = this.#settings
    const start = performance.now()
    const { log, checkpointed, failure } = this.#checkpoint()
    const end = performance.now()
    if (log > 0) metrics?.checkpoint.observe((threadMs + end - start) / 1000)
    this.#isRunning = false
    if (failure !== undefined) {
      metrics?.checkpointFailures.inc()
      onProblem?.(
        `cannot write ${this.#options.file}-wal back into the database: ${failure}. No change is lost, but the file ` +
          'keeps growing: check the disk, and that this user can write to the database',
      )
      this.#nextInspection = end + retryMs
    }
    // Pages that a snapshot needs stay in the WAL. An export's snapshot is long-lived, and a checkpoint after every
    // commit would cost more than it gains.
    this.#due = checkpointed === log ? this.#pages : log + this.#pages / 16
  }
}

/**
 * Prepares a checkpoint (https://www.sqlite.org/pragma.html#pragma_wal_checkpoint).
 *
 * @param toUnavailable maps the errors of SQLite
 * @returns a function that runs it and returns the resulting state of the WAL
 */
export function prepareCheckpoint(
  db: Database,
  mode: 'NOOP' | 'PASSIVE' | 'TRUNCATE',
  toUnavailable = mapError,
): () => WalState {
  const statement = db.prepare<[], WalState>(`PRAGMA wal_checkpoint(${mode})`).safeIntegers(false)
  return () => {
    try {
      return known(statement.get())
    } catch (error) {
      const mapped = toUnavailable(error)
      if (!(mapped instanceof StoreUnavailable)) throw error
      return mapped.reason === 'busy' ? NOT_RUN : { ...NOT_RUN, failure: mapped.detail }
    }
  }
}

import { SharedCounter } from '../shared-memory/shared-counter.ts'
import {
  DURATION_BOUNDS,
  type HistogramFigures,
  SharedHistogram,
} from '../shared-memory/shared-histogram.ts'

/** Upper bounds of the number of changes in a commit. */
const CHANGES_BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]

/** What a store measures about itself. Times are in seconds. */
export interface StoreFigures {
  readonly commits: CommitFigures
  readonly waitingChanges: number
  /** Undefined if the store has no file. */
  readonly file?: FileFigures | undefined
  /** Undefined if the store has no connections to a server. */
  readonly connections?: ConnectionFigures | undefined
}

export interface CommitFigures {
  /** From the start of a transaction until it is durable. */
  readonly duration: HistogramFigures
  /** The changes of each commit, including those that changed nothing. A batch counts as its number of plants. */
  readonly changes: HistogramFigures
}

export interface FileFigures {
  /** How long commits wrote to the WAL and waited for the disk. */
  readonly sync: HistogramFigures
  /** How long it took to write the WAL back into the database. */
  readonly checkpoint: HistogramFigures
  /** How often that failed. */
  readonly checkpointFailures: number
  /** Sizes in bytes. Undefined if the file system does not respond in time. */
  readonly space?: SpaceFigures | undefined
}

export interface SpaceFigures {
  readonly wal: number
  readonly database: number
  /** Of the file system. */
  readonly free: number
  readonly total: number
}

export interface ConnectionFigures {
  readonly idle: number
  readonly used: number
  readonly max: number
  /** Requests that wait for a connection. */
  readonly pending: number
}

/** Measures commits. One thread writes, and all can read. */
export class CommitMetrics {
  readonly duration: SharedHistogram
  readonly changes: SharedHistogram
  readonly sync: SharedHistogram
  readonly checkpoint: SharedHistogram
  readonly checkpointFailures: SharedCounter

  /** @param memory of another thread's object, to share its figures */
  constructor(memory: Partial<CommitMemory> = {}) {
    this.duration = new SharedHistogram(DURATION_BOUNDS, memory.duration)
    this.changes = new SharedHistogram(CHANGES_BOUNDS, memory.changes)
    this.sync = new SharedHistogram(DURATION_BOUNDS, memory.sync)
    this.checkpoint = new SharedHistogram(DURATION_BOUNDS, memory.checkpoint)
    this.checkpointFailures = new SharedCounter(memory.checkpointFailures)
  }

  /** What another thread needs to share these figures. */
  get memory(): CommitMemory {
    return {
      duration: this.duration.memory,
      changes: this.changes.memory,
      sync: this.sync.memory,
      checkpoint: this.checkpoint.memory,
      checkpointFailures: this.checkpointFailures.memory,
    }
  }
}

export type CommitMemory = {
  readonly [Name in keyof Omit<CommitMetrics, 'memory'>]: SharedArrayBuffer
}

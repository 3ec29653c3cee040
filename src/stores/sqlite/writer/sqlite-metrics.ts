import { realpath, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Counter, Gauge, Histogram } from '@prometheus-io/client'
import { shareResult } from '../../../../core/time/shared-result.ts'
import { within } from '../../../../core/time/within.ts'
import { CommitMetrics, DURATION_BOUNDS } from '../../shared/store-metrics.ts'

const SPACE = [
  ['wal', 'plant_store_wal_bytes', 'The size of the WAL file.'],
  ['database', 'plant_store_database_bytes', 'The size of the database file.'],
  [
    'free',
    'plant_store_disk_free_bytes',
    'Free space of the file system of the database, excluding the space reserved for root.',
  ],
  ['total', 'plant_store_disk_size_bytes', 'The size of the file system of the database.'],
] as const

/** The metrics of a thread that uses an SQLite database. */
export class SqliteMetrics extends CommitMetrics {
  /** The part of a commit that writes to the WAL and waits for the disk. In seconds. */
  readonly sync: Histogram
  /** In seconds. */
  readonly checkpoint: Histogram
  readonly checkpointFailures: Counter

  /** @param hasFile whether the database is in a file, rather than in memory */
  constructor(hasFile = true) {
    super()
    const registers = hasFile ? this.registers : []
    const buckets = [...DURATION_BOUNDS]
    this.sync = new Histogram({
      name: 'plant_store_fsync_duration_seconds',
      help: 'The COMMIT of a transaction, which writes to the WAL and waits for the disk.',
      buckets,
      registers,
    })
    this.checkpoint = new Histogram({
      name: 'plant_store_checkpoint_duration_seconds',
      help: 'Writing the WAL back into the database, including the waits for the disk.',
      buckets,
      registers,
    })
    this.checkpointFailures = new Counter({
      name: 'plant_store_checkpoint_failures_total',
      help: 'Failed attempts to write the WAL back into the database.',
      registers,
    })
  }

  /** @param read resolves to undefined if the file system does not respond */
  measureSpace(database: string, read = prepareMeasurement(database)): void {
    const { registers } = this
    for (const [figure, name, help] of SPACE) {
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          const space = await read()
          if (space === undefined) this.remove()
          else this.set(space[figure])
        },
      })
    }
  }
}

/** Sizes in bytes. */
export interface SpaceFigures {
  readonly wal: number
  readonly database: number
  /** Of the file system. */
  readonly free: number
  readonly total: number
}

/** How long to wait for a file system, which a failing disk or network can block for minutes. */
const TIMEOUT_MS = 1000

/**
 * Creates a function that measures a database's files and its file system. It resolves to undefined if they cannot be
 * read in time. Only one measurement is under way at a time, because each can block a thread of libuv's small pool.
 */
export function prepareMeasurement(
  database: string,
  read = readSpace,
  timeoutMs = TIMEOUT_MS,
): () => Promise<SpaceFigures | undefined> {
  const readShared = shareResult(() => read(database))
  return () => {
    const space = readShared().catch(() => undefined)
    return within(space, timeoutMs, undefined)
  }
}

async function readSpace(database: string): Promise<SpaceFigures> {
  // SQLite keeps the WAL next to the target of a symbolic link.
  const file = await realpath(database)
  // One after another, so that a file system that does not respond blocks one thread only.
  const { size } = await stat(file)
  // The last connection to close removes it.
  const wal = await stat(`${file}-wal`).catch(() => ({ size: 0 }))
  const { bsize, bavail, blocks } = await statfs(dirname(file))
  return { database: size, wal: wal.size, free: bavail * bsize, total: blocks * bsize }
}

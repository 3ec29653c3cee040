import { Counter, Gauge, Histogram } from '@prometheus-io/client'
import { CommitMetrics, DURATION_BOUNDS } from '../store-metrics.ts'
import type { SpaceFigures } from './file/file-space.ts'

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

/** What a thread that uses a SQLite database measures. */
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
  measureSpace(read: () => Promise<SpaceFigures | undefined>): void {
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

import type {
  ConnectionFigures,
  FileFigures,
  SpaceFigures,
  StoreFigures,
} from '../stores/store-figures.ts'
import { counter, gauge, histogram, type Metric } from './metric.ts'

/** The metrics of a store. */
export function storeMetrics({
  commits,
  waitingChanges,
  file,
  connections,
}: StoreFigures): Metric[] {
  return [
    histogram(
      'plant_store_commit_duration_seconds',
      'From the start of a transaction that makes changes until they are durable.',
      [{}, commits.duration],
    ),
    histogram(
      'plant_store_commit_changes',
      'Changes per transaction, including those that changed nothing. A batch counts as its number of plants.',
      [{}, commits.changes],
    ),
    gauge('plant_store_waiting_changes', 'Changes that are not durable yet.', [{}, waitingChanges]),
    ...(file === undefined ? [] : fileMetrics(file)),
    ...(connections === undefined ? [] : connectionMetrics(connections)),
  ]
}

function fileMetrics({ sync, checkpoint, checkpointFailures, space }: FileFigures): Metric[] {
  return [
    histogram(
      'plant_store_fsync_duration_seconds',
      'The COMMIT of a transaction, which writes to the WAL and waits for the disk.',
      [{}, sync],
    ),
    histogram(
      'plant_store_checkpoint_duration_seconds',
      'Writing the WAL back into the database, including the waits for the disk.',
      [{}, checkpoint],
    ),
    counter(
      'plant_store_checkpoint_failures_total',
      'Failed attempts to write the WAL back into the database.',
      [{}, checkpointFailures],
    ),
    ...(space === undefined ? [] : spaceMetrics(space)),
  ]
}

function spaceMetrics({ wal, database, free, total }: SpaceFigures): Metric[] {
  return [
    gauge('plant_store_wal_bytes', 'The size of the WAL file.', [{}, wal]),
    gauge('plant_store_database_bytes', 'The size of the database file.', [{}, database]),
    gauge(
      'plant_store_disk_free_bytes',
      'Free space of the file system of the database, excluding the space reserved for root.',
      [{}, free],
    ),
    gauge('plant_store_disk_size_bytes', 'The size of the file system of the database.', [
      {},
      total,
    ]),
  ]
}

function connectionMetrics({ idle, used, max, pending }: ConnectionFigures): Metric[] {
  return [
    gauge(
      'db_client_connections',
      'Connections to the PostgreSQL server.',
      [{ state: 'idle' }, idle],
      [{ state: 'used' }, used],
    ),
    gauge('db_client_connection_max', 'The maximum of these connections.', [{}, max]),
    gauge('db_client_connection_pending_requests', 'Statements that wait for a connection.', [
      {},
      pending,
    ]),
  ]
}

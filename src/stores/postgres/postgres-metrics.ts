import { Gauge } from '@prometheus-io/client'
import { CommitMetrics } from '../shared/store-metrics.ts'
import type { ConnectionFigures } from './connection/hosts.ts'

/** The metrics of a store on a PostgreSQL server. */
export class PostgresMetrics extends CommitMetrics {
  measureConnections(read: () => ConnectionFigures): void {
    const { registers } = this
    new Gauge({
      name: 'db_client_connections',
      help: 'Connections to the PostgreSQL server.',
      labelNames: ['state'],
      registers,
      collect() {
        const { idle, used } = read()
        this.set({ state: 'idle' }, idle)
        this.set({ state: 'used' }, used)
      },
    })
    new Gauge({
      name: 'db_client_connection_max',
      help: 'The maximum of these connections.',
      registers,
      collect() {
        this.set(read().max)
      },
    })
    new Gauge({
      name: 'db_client_connection_pending_requests',
      help: 'Statements that wait for a connection.',
      registers,
      collect() {
        this.set(read().pending)
      },
    })
  }
}

import type { PostgresServer } from '../../../../tools/postgres/postgres-server.ts'
import type { Owner } from '../../../helpers/processes/command.ts'
import { until } from '../../../helpers/processes/until.ts'
import type { History } from '../../history.ts'
import { Service } from '../../services/service.ts'

/** A replica of the service, whose connections PostgreSQL knows by its name. */
export class Replica extends Service {
  readonly name: string

  /** @param database a connection string without parameters */
  constructor(owner: Owner, database: string, name: string) {
    super(owner, `${database}?application_name=${name}`)
    this.name = name
  }

  /** Resolves once the replica can use its database. */
  async ready(): Promise<void> {
    await until(`${this.name} is ready`, async () => {
      const response = await fetch(`${this.url}/health/ready`)
      await response.body?.cancel()
      return response.ok
    })
  }
}

/** Resolves to replicas that are ready for clients. */
export function startReplicas(
  owner: Owner,
  database: string,
  { count, args }: { readonly count: number; readonly args: readonly string[] },
): Promise<Replica[]> {
  return Promise.all(
    Array.from({ length: count }, (_, number) =>
      new Replica(owner, database, `replica-${number + 1}`).start(...args),
    ),
  )
}

/**
 * Resolves once the server has ended all transactions from before the call, and tells the judges. A replica that no
 * longer runs can have left statements in its connections, so these must have ended too.
 *
 * @param gone the name of that replica
 */
export async function settle(
  history: History,
  server: Pick<PostgresServer, 'query'>,
  gone = '',
): Promise<void> {
  const endedBefore = performance.now()
  const [row] = await server.query<{ now: string }>('SELECT now()::text')
  await until('the server has ended its statements', async () => {
    const left = await server.query(
      `SELECT FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'
       AND (application_name = '${gone}' OR xact_start < '${row?.now}')`,
    )
    return left.length === 0
  })
  history.settled(endedBefore)
}

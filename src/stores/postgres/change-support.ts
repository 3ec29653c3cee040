import type { Connections } from './connections.ts'

/** The first version with `xid8` and `pg_snapshot`. */
const VERSION_MIN = 13

/** Names that forks of PostgreSQL, which order commits in other ways, add to its version. */
const FORKS = /-YB-|greenplum|redshift|cloudberry|orioledb/i

/** Citus can distribute plants over servers. The function tells a database from the one that it was restored from. */
const SUPPORT = `
  SELECT WHERE has_function_privilege('pg_control_system()', 'EXECUTE')
               AND NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')`

/**
 * Whether the ledger is known to work on a server, which depends on transaction ids, snapshots and locks that other
 * servers with the same protocol lack or imitate. See README.md.
 */
export async function supportsChanges(connections: Pick<Connections, 'query'>): Promise<boolean> {
  const rows = await connections.query<{ version: string }>('SELECT version() AS version')
  const [{ version }] = rows as [{ version: string }]
  const [, major] = /^PostgreSQL (\d+)/.exec(version) ?? []
  if (Number(major ?? 0) < VERSION_MIN || FORKS.test(version)) return false
  const found = await connections.query(SUPPORT)
  return found.length > 0
}

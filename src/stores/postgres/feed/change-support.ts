import type { Retention } from '../../engine.ts'
import type { Connections } from '../connection/connections.ts'
import { identifyServer } from '../connection/server-product.ts'

/** The first version with `xid8` and `pg_snapshot`. */
const VERSION_MIN = 13

/** The function distinguishes a database from the one that it was restored from. */
const SUPPORT = "SELECT WHERE has_function_privilege('pg_control_system()', 'EXECUTE')"

/**
 * Why the ledger is not known to work on a server; undefined if it is. The ledger depends on transaction ids, snapshots
 * and locks that other servers with the same protocol lack or imitate. See README.md.
 */
export async function findObstacle(connections: Connections): Promise<string | undefined> {
  const { name } = await identifyServer(connections)
  const [, major] = /^PostgreSQL (\d+)$/.exec(name) ?? []
  if (Number(major ?? 0) < VERSION_MIN) return `the change feed is not known to work on ${name}`
  const found = await connections.query(SUPPORT)
  if (found.length > 0) return undefined
  return 'the change feed needs permission to execute the function pg_control_system()'
}

/** Warns an operator who wants to keep changes on a server that does not support it. */
export function warnOfObstacle(
  obstacle: string | undefined,
  retention: Retention | undefined,
): string[] {
  if (obstacle === undefined || !retention?.age) return []
  return [`changes are not kept: ${obstacle}; see docs/changes.md, or set --keep-changes to 0`]
}

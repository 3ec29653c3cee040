import type { Connections } from './connections.ts'

/** The database engine of a server. */
export interface ServerProduct {
  /** Such as `PostgreSQL 18`. */
  readonly name: string
  readonly isTested: boolean
  /** Whether its standbys are those of PostgreSQL. */
  readonly isPostgres: boolean
}

/** The oldest and the newest major version that the tests have run on. */
const TESTED = { oldest: 15, newest: 18 }

/**
 * Engines that speak PostgreSQL's protocol, recognized by the result of `version()`, and whether their standbys are those
 * of PostgreSQL. OrioleDB's are, but it does not log row locks, so a transaction that only locks does not wait for them.
 */
const OTHERS = [
  [/^CockroachDB/, 'CockroachDB', false],
  [/-YB-/, 'YugabyteDB', false],
  [/Redshift/, 'Amazon Redshift', false],
  [/Greenplum/, 'Greenplum', false],
  [/Cloudberry/, 'Apache Cloudberry', false],
  [/OrioleDB/i, 'OrioleDB', false],
  [/EnterpriseDB/, 'EDB Postgres Advanced Server', true],
] as const

/** Asks a server for its engine. */
export async function identifyServer(connections: Connections): Promise<ServerProduct> {
  const [row] = await connections.query<{ version: string; citus: boolean }>(
    `SELECT version() AS version, EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus') AS citus`,
  )
  const { version, citus } = row as { version: string; citus: boolean }
  return citus ? { name: 'Citus', isTested: false, isPostgres: true } : identify(version)
}

/** @param version the result of `version()` */
export function identify(version: string): ServerProduct {
  const [, other, isPostgres = false] = OTHERS.find(([pattern]) => pattern.test(version)) ?? []
  const major = /^PostgreSQL (\d+)/.exec(version)?.[1]
  if (other !== undefined || major === undefined) {
    // The first word of an unknown engine, which is usually its name.
    return { name: other ?? version.split(' ', 1).join(), isTested: false, isPostgres }
  }
  const isTested = Number(major) >= TESTED.oldest && Number(major) <= TESTED.newest
  return { name: `PostgreSQL ${major}`, isTested, isPostgres: true }
}

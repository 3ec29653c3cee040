import type { PostgresServer } from '../../../tools/postgres/postgres-server.ts'

/** An empty database. */
export interface Database {
  readonly url: string
  readonly name: string
  /** Runs a statement on a new connection. */
  query<Row extends object>(text: string): Promise<Row[]>
}

/** Creates databases for tests that need more than the URL. */
export function emptyDatabases(
  server: PostgresServer,
  emptyDatabase: () => Promise<string>,
): () => Promise<Database> {
  return async () => {
    const url = await emptyDatabase()
    const name = new URL(url).pathname.slice(1)
    return { url, name, query: (text) => server.query(text, name) }
  }
}

/** Statements that make a database report another version of its server to new connections. */
export function otherVersion(database: string, version: string): string[] {
  return [
    `CREATE OR REPLACE FUNCTION public.version() RETURNS text LANGUAGE sql AS $$ SELECT '${version}' $$`,
    `ALTER DATABASE ${database} SET search_path = public, pg_catalog`,
  ]
}

/** Changes a setting that needs no restart. Resolves when new connections use it. */
export async function set(server: PostgresServer, name: string, value: string): Promise<void> {
  await server.query(`ALTER SYSTEM SET ${name} = '${value}'`)
  await server.query('SELECT pg_reload_conf()')
  while ((await server.query<Record<string, string>>(`SHOW ${name}`))[0]?.[name] !== value);
}

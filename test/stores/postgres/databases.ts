import type { PostgresServer } from '../../helpers/postgres.ts'

/** An empty database. */
export interface Database {
  readonly url: string
  readonly name: string
  /** Runs a statement in it, on a connection of its own. */
  query<Row extends object>(text: string): Promise<Row[]>
}

/** Makes databases of which a test does not only want the URL. */
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

/** Gives the server a setting that it reads while it runs; resolves when new connections have it. */
export async function set(server: PostgresServer, name: string, value: string): Promise<void> {
  await server.query(`ALTER SYSTEM SET ${name} = '${value}'`)
  await server.query('SELECT pg_reload_conf()')
  while ((await server.query<Record<string, string>>(`SHOW ${name}`))[0]?.[name] !== value);
}

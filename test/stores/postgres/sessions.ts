import type { Connections } from '../../../src/stores/postgres/connections.ts'

/** A server that refuses connections: port 1 is reserved, and nothing listens on it. */
export const UNREACHABLE = 'postgres://plants@127.0.0.1:1/postgres'

/** A statement that fails with an error code. */
export function raise(code: string): string {
  return `DO $$ BEGIN RAISE EXCEPTION 'on purpose' USING ERRCODE = '${code}'; END $$`
}

/** The name of the database that the connections use. */
export async function databaseOf(connections: Connections): Promise<string | undefined> {
  const [row] = await connections.query<{ name: string }>('SELECT current_database() AS name')
  return row?.name
}

/** The name of the database in a URL. */
export function nameOf(url: string): string {
  return new URL(url).pathname.slice(1)
}

import pg from 'pg'
import { FIRST_ID, makePlant } from '../load/request-kinds.ts'
import type { Plants, StoredPlant } from './bare-plants.ts'

/** The driver's default. */
const CONNECTIONS = 10

/**
 * Runs one statement per request, on a pool of connections.
 *
 * @param stored how many plants to store first
 */
export async function postgresPlants(url: string, stored: number): Promise<Plants> {
  const getTypeParser: typeof pg.types.getTypeParser = (type, format) =>
    type === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(type, format)
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS,
    types: { getTypeParser },
  })
  const select = async (text: string, values: unknown[]) =>
    (await pool.query<StoredPlant>(text, values)).rows
  await pool.query('CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)')
  const createAll = (plants: readonly StoredPlant[]) =>
    pool.query(
      'INSERT INTO plants SELECT * FROM unnest($1::int8[], $2::text[], $3::text[]) ON CONFLICT DO NOTHING',
      [plants.map(({ id }) => id), plants.map(({ name }) => name), plants.map(({ tag }) => tag)],
    )
  await createAll(Array.from({ length: stored }, (_, index) => makePlant(FIRST_ID + index)))
  return {
    create: ({ id, name, tag }) =>
      pool.query('INSERT INTO plants VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [id, name, tag]),
    createAll,
    get: async (id) => (await select('SELECT * FROM plants WHERE id = $1', [id]))[0],
    page: (after) => select('SELECT * FROM plants WHERE id > $1 ORDER BY id LIMIT 100', [after]),
  }
}

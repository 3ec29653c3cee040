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
  await fillTable(pool, stored)
  return {
    create: ({ id, name, tag }) =>
      pool.query('INSERT INTO plants VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [id, name, tag]),
    createAll: (plants) => insertAll(pool, plants),
    get: async (id) => (await select('SELECT * FROM plants WHERE id = $1', [id]))[0],
    page: (after) => select('SELECT * FROM plants WHERE id > $1 ORDER BY id LIMIT 100', [after]),
  }
}

/** Creates the table in an empty database, with `stored` plants. */
export async function fillTable(pool: pg.Pool, stored: number): Promise<void> {
  await pool.query('CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)')
  const plants = Array.from({ length: stored }, (_, index) => makePlant(FIRST_ID + index))
  await insertAll(pool, plants)
}

function insertAll(pool: pg.Pool, plants: readonly StoredPlant[]) {
  return pool.query(
    'INSERT INTO plants SELECT * FROM unnest($1::int8[], $2::text[], $3::text[]) ON CONFLICT DO NOTHING',
    [plants.map(({ id }) => id), plants.map(({ name }) => name), plants.map(({ tag }) => tag)],
  )
}

/** Opening: migrations, concurrent starts, and databases that are rejected. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { SCHEMA_VERSION } from '../../../src/stores/postgres/postgres-schema.ts'
import { PostgresStore } from '../../../src/stores/postgres/postgres-store.ts'
import { MissingDatabase, newerSchemaMessage, StoreError } from '../../../src/stores/store-error.ts'
import { sharedPostgres } from '../../helpers/shared-postgres.ts'
import { emptyDatabases, set } from './databases.ts'
import { countWaiting } from './sessions.ts'

const { server, emptyDatabase } = await sharedPostgres()
const database = emptyDatabases(server, emptyDatabase)

const open = (url: string, timeout = 10_000) => PostgresStore.open({ url, timeout })

const REPLICAS = 6
const ROUNDS = 3

t.test('replicas that start concurrently create the schema once', async (t) => {
  for (let round = 0; round < ROUNDS; round++) {
    const { url, query } = await database()
    const stores = await Promise.all(Array.from({ length: REPLICAS }, () => open(url)))
    const created = await Promise.all(
      stores.map((store, index) => store.create({ id: BigInt(index), name: 'x' })),
    )
    t.same(new Set(created), new Set(['created']))
    t.same(
      await Promise.all(stores.map((store) => store.listTokens())),
      stores.map(() => []),
    )
    t.same(await query('SELECT version FROM plant_store_schema ORDER BY version'), versions())
    await Promise.all(stores.map((store) => store.close()))
  }
})

t.test('a start continues after a concurrent one has created the schema table', async (t) => {
  const { url, name, query } = await database()
  const other = new pg.Client({ connectionString: url })
  await other.connect()
  await other.query('BEGIN')
  await other.query('CREATE TABLE plant_store_schema (version int PRIMARY KEY)')
  const opening = open(url)
  while ((await countWaiting(server, name)) === 0) await setImmediate()
  await other.query('COMMIT')
  await other.end()
  const store = await opening
  t.same(await query('SELECT version FROM plant_store_schema ORDER BY version'), versions())
  await store.close()
})

t.test('a start completes an interrupted migration', async (t) => {
  const { url, query } = await database()
  await query('CREATE TABLE plant_store_schema (version int PRIMARY KEY)')
  const store = await open(url)
  t.same(await query('SELECT version FROM plant_store_schema ORDER BY version'), versions())
  t.equal(await store.create({ id: 1n, name: 'x' }), 'created')
  await store.close()
})

t.test(
  'replicas that start concurrently upgrade an older schema and keep the plants',
  async (t) => {
    const { url, query } = await database()
    const before = await open(url)
    await before.create({ id: 1n, name: 'before' })
    await before.close()
    await query('DROP TABLE tokens')
    await query('DELETE FROM plant_store_schema WHERE version > 2')
    const stores = await Promise.all(Array.from({ length: REPLICAS }, () => open(url)))
    for (const store of stores) {
      t.same(await store.get(1n), { id: 1n, name: 'before' })
      t.same(await store.listTokens(), [])
      await store.close()
    }
    t.same(await query('SELECT version FROM plant_store_schema ORDER BY version'), versions())
  },
)

function versions(): object[] {
  return Array.from({ length: SCHEMA_VERSION }, (_, index) => ({ version: index + 1 }))
}

const REFUSED = [
  {
    what: 'with a newer schema',
    make: [
      'CREATE TABLE plant_store_schema (version int PRIMARY KEY)',
      `INSERT INTO plant_store_schema VALUES (${SCHEMA_VERSION + 1})`,
    ],
    says: newerSchemaMessage(SCHEMA_VERSION + 1, SCHEMA_VERSION),
  },
  {
    what: 'with a table of another program that has one of our names',
    make: ['CREATE TABLE tokens (id int)'],
    says: 'its table tokens belongs to another program',
  },
  {
    what: 'whose commits do not wait for the disk',
    make: ['ALTER DATABASE :name SET synchronous_commit = off'],
    says: 'synchronous_commit is off, so it can lose acknowledged changes',
  },
  {
    what: 'in which the user cannot create tables',
    make: ['ALTER DATABASE :name SET role = pg_monitor'],
    says: 'permission denied for schema public',
  },
]
for (const { what, make, says } of REFUSED) {
  t.test(`a database ${what} is rejected and left unchanged`, async (t) => {
    const { url, name, query } = await database()
    for (const statement of make) await query(statement.replace(':name', name))
    const tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
    const before = await query(tables)
    const message = `cannot use the database ${url}: ${says}`
    await t.rejects(open(url), { constructor: StoreError, message })
    t.same(await query(tables), before)
    // Fails while there is a connection.
    await t.resolves(server.query(`DROP DATABASE ${name}`))
  })
}

t.test('mustExist rejects an empty database and leaves it empty', async (t) => {
  const { url, query } = await database()
  const message = `cannot use the database ${url}: it is empty`
  const options = { url, timeout: 10_000, mustExist: true }
  await t.rejects(PostgresStore.open(options), { constructor: MissingDatabase, message })
  t.same(await query("SELECT FROM pg_tables WHERE schemaname = 'public'"), [])
  await (await open(url)).close()
  await (await PostgresStore.open(options)).close()
})

t.test('a database with an encoding other than UTF-8 is rejected', async (t) => {
  await server.query("CREATE DATABASE bytes ENCODING 'SQL_ASCII' TEMPLATE template0")
  await t.rejects(open(server.url('bytes')), { message: /: its encoding is SQL_ASCII, not UTF8$/ })
})

t.test('a server without fsync is rejected', async (t) => {
  const { url } = await database()
  await set(server, 'fsync', 'off')
  t.teardown(() => set(server, 'fsync', 'on'))
  const message = /: fsync is off, so it can lose acknowledged changes$/
  await t.rejects(open(url), { constructor: StoreError, message })
})

t.test('the next start completes a migration that failed', async (t) => {
  const { url, query } = await database()
  await query("CREATE TYPE tokens AS ENUM ('in the way')")
  await t.rejects(open(url), {
    constructor: StoreError,
    message: /: type "tokens" already exists$/,
  })
  await query('DROP TYPE tokens')
  const store = await open(url)
  t.same(await store.listTokens(), [])
  await store.close()
  t.same(await query('SELECT version FROM plant_store_schema ORDER BY version'), versions())
})

t.test('the error about a missing database contains no secrets', async (t) => {
  const shown = server.url('nowhere')
  const url = `${shown.replace('@', ':s3cret@')}?password=s3cret`
  const message = `cannot use the database ${shown}: the store is failing: 3D000: database "nowhere" does not exist`
  await t.rejects(open(url), { constructor: StoreError, message })
})

t.test('opening gives up on silent servers after the timeout', async (t) => {
  const silent = createServer().listen(0, '127.0.0.1')
  t.teardown(() => silent.close())
  await once(silent, 'listening')
  const { port } = silent.address() as { port: number }
  const url = `postgres://127.0.0.1:${port},localhost:${port}/plants`
  const start = performance.now()
  await t.rejects(open(url, 200), { constructor: StoreError, message: /the store is failing/ })
  t.ok(performance.now() - start < 5000)
})

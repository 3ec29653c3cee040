/** Opening: migrations, concurrent starts, and databases that are rejected. */

import { once } from 'node:events'
import { createServer } from 'node:net'
import pg from 'pg'
import t, { type Test } from 'tap'
import { known } from '../../../core/known.ts'
import { TokenStore } from '../../../service/token-store.ts'
import { Connections } from '../../../src/stores/postgres/connection/connections.ts'
import {
  FIRST_VERSION,
  MIGRATIONS,
  migrate,
  SCHEMA_VERSION,
  SORT_KEYS_VERSION,
} from '../../../src/stores/postgres/postgres-schema.ts'
import { PostgresStore } from '../../../src/stores/postgres/postgres-store.ts'
import {
  MissingDatabase,
  newerSchemaMessage,
  StoreError,
  schemaObstacle,
} from '../../../src/stores/shared/store-error.ts'
import { createIn } from '../../helpers/plants/single-changes.ts'
import { isSettled } from '../../helpers/processes/settled.ts'
import { sharedPostgres } from '../../helpers/service/shared-postgres.ts'
import {
  assertConverted,
  assertRestricted,
  assertSortable,
  EARLIER_RESTRICTIONS,
  earlierRows,
} from '../earlier-rows.ts'
import { emptyDatabases, otherVersion } from './databases.ts'
import { shortenLockWaits } from './sessions.ts'

const { server, emptyDatabase } = await sharedPostgres()
const database = emptyDatabases(server, emptyDatabase)

const open = (url: string, timeout = 10_000) => PostgresStore.open({ url, timeout })

const REPLICAS = 6

const FIND_VERSIONS = 'SELECT version FROM plant_store_schema ORDER BY version'

t.test('replicas that start concurrently create the schema once', async (t) => {
  const { url, query } = await database()
  const stores = await Promise.all(Array.from({ length: REPLICAS }, () => open(url)))
  const created = await Promise.all(
    stores.map((store, index) => createIn(store, { id: BigInt(index), name: 'x' })),
  )
  t.same(new Set(created), new Set(['created']))
  t.same(
    await Promise.all(stores.map((store) => new TokenStore(store).list())),
    stores.map(() => []),
  )
  t.same(await query(FIND_VERSIONS), versions())
  await Promise.all(stores.map((store) => store.close()))
})

t.test('a start waits for a concurrent one longer than for a server', async (t) => {
  const { url, query } = await database()
  const other = new pg.Client({ connectionString: url })
  await other.connect()
  await other.query('BEGIN; CREATE TABLE plant_store_schema (version int PRIMARY KEY)')
  const { limits } = shortenLockWaits(t)
  const opening = open(url)
  while (limits.length < 3 && !(await isSettled(opening))) {}
  await other.query('COMMIT')
  await other.end()
  const store = await opening
  t.same(await query(FIND_VERSIONS), versions())
  await store.close()
})

t.test('a statement that takes too long is repeated while the server responds', async (t) => {
  const { url, query } = await database()
  await query('CREATE SEQUENCE attempts')
  const slow = "DO $$ BEGIN IF nextval('attempts') = 1 THEN PERFORM pg_sleep(600); END IF; END $$"
  const connections = new Connections({ urls: [url], timeout: 2000 })
  t.teardown(() => connections.close())
  await migrate(connections, [...MIGRATIONS, [slow]])
  t.same(await query('SELECT last_value FROM attempts'), [{ last_value: '2' }])
  t.same(await query(FIND_VERSIONS), versions(SCHEMA_VERSION + 1))
})

t.test(
  'replicas that start concurrently upgrade an older schema and keep the plants',
  async (t) => {
    const { url, query } = await database()
    const store = await open(url)
    await createIn(store, { id: 1n, name: 'before' })
    const replicas = Array.from({ length: REPLICAS }, () => connect(t, url))
    await Promise.all(replicas.map((replica) => migrate(replica, NEXT_MIGRATIONS)))
    t.same(await query('SELECT id, name, note FROM plants'), [
      { id: '1', name: 'before', note: '' },
    ])
    const next = SCHEMA_VERSION + 1
    t.same(await query(FIND_VERSIONS), versions(next))
    t.equal(await createIn(store, { id: 2n, name: 'x' }), 'created', 'a replica that is running')
    await store.close()
    const message = new RegExp(`: ${newerSchemaMessage(next, SCHEMA_VERSION)}$`)
    await t.rejects(open(url), { message }, 'a replica that starts')
  },
)

t.test(
  'tokens, settings and webhooks become records, wherever the upgrade is killed',
  async (t) => {
    const [, records = []] = MIGRATIONS
    for (let done = 0; done <= records.length; done++) {
      const { url, query } = await database()
      await migrate(connect(t, url), EARLIER)
      for (const row of earlierRows((hex) => `'\\x${hex}'`)) await query(row)
      for (const statement of records.slice(0, done)) await query(statement)
      const stores = await Promise.all([open(url), open(url)])
      await assertConverted(t, stores[0])
      for (const store of stores) await store.close()
      t.same(await query(FIND_VERSIONS), versions())
    }
  },
)

t.test('a new database gets no tables that another replica could remove meanwhile', async (t) => {
  const { url, query } = await database()
  await migrate(connect(t, url), MIGRATIONS.slice(0, 1))
  t.same(await query("SELECT to_regclass('tokens') AS earlier"), [{ earlier: null }])
})

t.test('a restriction becomes a record', async (t) => {
  for (const [statement, expected] of EARLIER_RESTRICTIONS) {
    const { url, query } = await database()
    await migrate(connect(t, url), EARLIER)
    await query(statement)
    if (expected !== undefined) {
      await query(`
        CREATE FUNCTION refuse_plant_changes() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF current_setting('plant_store.is_step', true) = 'on' THEN RETURN NULL; END IF;
          RAISE 'changes to plants are restricted' USING
            ERRCODE = 'PS001', DETAIL = coalesce((SELECT source FROM plant_restriction), '');
        END $$;
        CREATE TRIGGER refuse_changes BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON plants
          EXECUTE FUNCTION refuse_plant_changes();
        ALTER TABLE plants ENABLE ALWAYS TRIGGER refuse_changes`)
    }
    const store = await open(url)
    await assertRestricted(t, store, expected)
    await store.close()
  }
})

t.test('plants of an earlier version can be sorted', async (t) => {
  const { url, query } = await database()
  await migrate(connect(t, url), MIGRATIONS.slice(0, SORT_KEYS_VERSION - FIRST_VERSION))
  await query("INSERT INTO plants (id, name) VALUES (1, 'b'), (2, 'a')")
  const store = await open(url)
  await assertSortable(t, store)
  await store.close()
})

t.test('a schema is not upgraded while an earlier version cannot use the new one', async (t) => {
  const { url, query } = await database()
  await migrate(connect(t, url), EARLIER)
  const earlier = new pg.Client({ connectionString: url, application_name: 'plant-store' })
  await earlier.connect()
  const message = /cannot be upgraded while an earlier version of plant-store is connected/
  await t.rejects(open(url), { message })
  t.same(await query(FIND_VERSIONS), versions(FIRST_VERSION))
  await earlier.end()
  await (await open(url)).close()
  t.same(await query(FIND_VERSIONS), versions())
})

t.test('an upgrade gives up if another transaction uses the plants for long', async (t) => {
  const { url, query } = await database()
  await (await open(url)).close()
  const reading = new pg.Client({ connectionString: url })
  await reading.connect()
  await reading.query('BEGIN; SELECT id FROM plants')
  const { limits, undo } = shortenLockWaits(t)
  await t.rejects(migrate(connect(t, url), NEXT_MIGRATIONS), {
    name: 'StoreUnavailable',
    detail: 'its schema cannot be upgraded while another transaction is using the plants',
  })
  t.same(new Set(limits), new Set(['54000ms']), 'the server gives up before the client')
  undo()
  t.same(await query(FIND_VERSIONS), versions())
  await reading.end()
  await migrate(connect(t, url), NEXT_MIGRATIONS)
  t.same(await query(FIND_VERSIONS), versions(SCHEMA_VERSION + 1))
})

/** Creates the schema of the version before the records. */
const EARLIER = [
  [
    ...known(MIGRATIONS[0]),
    `CREATE TABLE IF NOT EXISTS tokens (
       name text PRIMARY KEY,
       selector bytea NOT NULL,
       digest bytea NOT NULL,
       scopes text NOT NULL,
       created_at bigint NOT NULL,
       expires_at bigint,
       last_used_at bigint
     )`,
    'CREATE INDEX IF NOT EXISTS tokens_by_selector ON tokens (selector)',
    `CREATE TABLE IF NOT EXISTS plant_webhooks (
       name text PRIMARY KEY,
       url text NOT NULL,
       events text NOT NULL,
       secret text NOT NULL,
       previous_secret text,
       previous_until bigint,
       created_at bigint NOT NULL,
       cursor text,
       attempts bigint NOT NULL DEFAULT 0,
       failing_since bigint,
       next_attempt_at bigint,
       paused_at bigint,
       last_success_at bigint,
       last_failure_at bigint,
       last_failure text,
       owner text,
       owner_until bigint
     )`,
    'CREATE TABLE IF NOT EXISTS plant_store_settings (name text PRIMARY KEY, value text NOT NULL)',
    `CREATE TABLE IF NOT EXISTS plant_restriction (
       is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
       source text,
       cursor text,
       copy_from bigint,
       consistent_at text
     )`,
  ],
]

/** The migrations of a version that follows this one. */
const NEXT_MIGRATIONS = [
  ...MIGRATIONS,
  [
    "ALTER TABLE plants ADD COLUMN IF NOT EXISTS note text NOT NULL DEFAULT ''",
    'CREATE TABLE IF NOT EXISTS notes (id bigint PRIMARY KEY)',
  ],
]

function connect(t: Test, url: string): Connections {
  const connections = new Connections({ urls: [url], timeout: 60_000 })
  t.teardown(() => connections.close())
  return connections
}

function versions(last = SCHEMA_VERSION): object[] {
  return Array.from({ length: last }, (_, index) => ({ version: index + 1 }))
}

const REFUSED = [
  ...['Novel 1.0', 'PostgreSQL 12.22'].map((version) => ({
    what: `on ${version}`,
    make: otherVersion(':name', `${version} on x86_64-pc-linux-gnu`),
    says: `the server is ${version}, but only PostgreSQL 13 or later is supported`,
  })),
  {
    what: 'with a newer schema',
    make: [
      'CREATE TABLE plant_store_schema (version int PRIMARY KEY)',
      `INSERT INTO plant_store_schema VALUES (${SCHEMA_VERSION + 1})`,
    ],
    says: newerSchemaMessage(SCHEMA_VERSION + 1, SCHEMA_VERSION),
  },
  {
    what: 'with an older schema',
    make: [
      'CREATE TABLE plant_store_schema (version int PRIMARY KEY)',
      `INSERT INTO plant_store_schema VALUES (${FIRST_VERSION - 1})`,
    ],
    says: schemaObstacle(FIRST_VERSION - 1, FIRST_VERSION, SCHEMA_VERSION),
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
  const options = { url, timeout: 60_000, mustExist: true }
  await t.rejects(PostgresStore.open(options), { constructor: MissingDatabase, message })
  t.same(await query("SELECT FROM pg_tables WHERE schemaname = 'public'"), [])
  await (await open(url)).close()
  await (await PostgresStore.open(options)).close()
})

t.test('a user who cannot identify the database is rejected', async (t) => {
  const { url, name, query } = await database()
  const role = `user_of_${name}`
  await query(`CREATE ROLE ${role} LOGIN`)
  await query(`ALTER DATABASE ${name} OWNER TO ${role}`)
  const ofRole = url.replace(/\/\/\w+@/, `//${role}@`)
  const refused = { message: /: permission denied for function pg_control_system$/ }
  await query('REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC')
  await t.rejects(open(ofRole), refused, 'a new database')
  await query('GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC')
  await (await open(ofRole)).close()
  await query('REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC')
  await t.rejects(open(ofRole), refused, 'an existing one')
})

t.test('the next start completes a migration that failed', async (t) => {
  const { url, query } = await database()
  await query("CREATE TYPE plant_store_records AS ENUM ('in the way')")
  await t.rejects(open(url), {
    constructor: StoreError,
    message: /: type "plant_store_records" already exists$/,
  })
  await query('DROP TYPE plant_store_records')
  const store = await open(url)
  t.same(await new TokenStore(store).list(), [])
  await store.close()
  t.same(await query(FIND_VERSIONS), versions())
})

t.test('opening gives up on silent servers after the timeout', async (t) => {
  const silent = createServer().listen(0, '127.0.0.1')
  t.teardown(() => silent.close())
  await once(silent, 'listening')
  const { port } = silent.address() as { port: number }
  const url = `postgres://127.0.0.1:${port},localhost:${port}/plants`
  await t.rejects(open(url, 200), { constructor: StoreError, message: /the store is failing/ })
})

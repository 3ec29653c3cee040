import t, { type Test } from 'tap'
import { TokenStore } from '../../../service/token-store.ts'
import { checkDatabase } from '../../../src/stores/postgres/postgres-check.ts'
import { FIRST_VERSION, SCHEMA_VERSION } from '../../../src/stores/postgres/postgres-schema.ts'
import { PostgresStore } from '../../../src/stores/postgres/postgres-store.ts'
import {
  newerSchemaMessage,
  StoreError,
  schemaObstacle,
} from '../../../src/stores/shared/store-error.ts'
import { importPlants } from '../../../src/transfer/import.ts'
import { sharedPostgres } from '../../helpers/service/shared-postgres.ts'
import { insertToken } from '../../helpers/service/token-rows.ts'
import { type Database, emptyDatabases, otherVersion, set } from './databases.ts'

const { server, emptyDatabase } = await sharedPostgres()
const database = emptyDatabases(server, emptyDatabase)

const timeout = 10_000

/** A database with two plants and a token. */
async function filledDatabase(): Promise<Database> {
  const made = await database()
  const store = await PostgresStore.open({ url: made.url, timeout })
  await importPlants(
    store,
    [4n, 5n].map((id) => ({ id, name: 'Abies' })),
    'stop',
  )
  await new TokenStore(store).add({
    name: 'ci',
    digest: new Uint8Array(32).fill(1),
    scopes: ['read'],
    createdAt: new Date(),
  })
  await store.close()
  return made
}

/** Status and message by subject. */
async function findingsOf(url: string): Promise<Record<string, string>> {
  const findings: Record<string, string> = {}
  for await (const { subject, status, message } of checkDatabase({ url, timeout })) {
    findings[subject] = `${status} ${message}`
  }
  return findings
}

const SOUND = {
  kind: 'ok a plant-store database',
  schema: `ok version ${SCHEMA_VERSION}`,
  connection: 'ok not encrypted: the server is on this machine',
  acknowledged: "ok on the server's disk",
  tokens: 'ok 1',
  plants: 'ok 2',
  changes: 'ok 2 kept',
}

function assertFindings(
  t: Test,
  findings: Record<string, string>,
  others: Record<string, string | undefined> = {},
) {
  const { server, ...rest } = findings
  t.match(server, /^ok PostgreSQL \d+.*, text in UTF8$/)
  const expected = Object.entries({ ...SOUND, ...others }).filter(([, finding]) => finding)
  t.same(rest, Object.fromEntries(expected))
}

t.test('a sound database passes, checked by a read-only role', async (t) => {
  const { url, name, query } = await filledDatabase()
  await query(`ALTER DATABASE ${name} SET role = pg_read_all_data`)
  assertFindings(t, await findingsOf(url))
})

const OBSOLETE = 'ok of an obsolete feed; the service deletes them on its next start'

const FAULTS = [
  {
    what: 'an older schema',
    make: [`DELETE FROM plant_store_schema WHERE version >= ${FIRST_VERSION}`],
    finds: {
      schema: `fault ${schemaObstacle(FIRST_VERSION - 1, FIRST_VERSION, SCHEMA_VERSION)}`,
      acknowledged: undefined,
      tokens: undefined,
    },
  },
  {
    what: 'a newer schema',
    make: [`INSERT INTO plant_store_schema VALUES (${SCHEMA_VERSION + 1})`],
    finds: {
      schema: `fault ${newerSchemaMessage(SCHEMA_VERSION + 1, SCHEMA_VERSION)}`,
    },
  },
  {
    what: 'a missing table',
    make: ['ALTER TABLE plants RENAME TO trees'],
    finds: { plants: 'fault relation "plants" does not exist' },
  },
  {
    what: 'damaged tokens',
    make: [
      `UPDATE plant_store_records SET value = replace(value, '","scopes"', '"f,"scopes"')
       WHERE kind = 'token' AND key = 'ci'`,
      insertToken('another', '00', 'ab'.repeat(32)),
    ],
    finds: { tokens: 'fault damaged: another, ci; revoke these tokens and create new ones' },
  },
  {
    what: 'a database that was restored from a dump',
    make: ["UPDATE plant_change_log SET database = 'another'"],
    finds: { changes: OBSOLETE },
  },
  {
    what: 'commits that do not wait for the disk',
    make: ['ALTER DATABASE :name SET synchronous_commit = off'],
    finds: {
      acknowledged: 'fault synchronous_commit is off, so it can lose acknowledged changes',
    },
  },
]
for (const { what, make, finds } of FAULTS) {
  t.test(`reports ${what}, and checks the rest`, async (t) => {
    const { url, name, query } = await filledDatabase()
    for (const statement of make) await query(statement.replace(':name', name))
    assertFindings(t, await findingsOf(url), finds)
  })
}

t.test('checks nothing else on a server that is not PostgreSQL', async (t) => {
  const { url, name, query } = await filledDatabase()
  for (const statement of otherVersion(name, 'Novel 1.0')) await query(statement)
  const kind = 'fault the server is Novel 1.0, but only PostgreSQL 13 or later is supported'
  t.same(await findingsOf(url), { kind })
})

t.test('reports the standbys that have a change before it is acknowledged', async (t) => {
  const [local, written] = [await filledDatabase(), await filledDatabase()]
  const remote = await filledDatabase()
  await local.query(`ALTER DATABASE ${local.name} SET synchronous_commit = local`)
  await written.query(`ALTER DATABASE ${written.name} SET synchronous_commit = remote_write`)
  await set(server, 'synchronous_standby_names', 'ANY 1 (one, two)')
  t.teardown(() => set(server, 'synchronous_standby_names', ''))
  assertFindings(t, await findingsOf(local.url))
  assertFindings(t, await findingsOf(written.url))
  const acknowledged = "ok on the server's disk and on standbys: ANY 1 (one, two)"
  assertFindings(t, await findingsOf(remote.url), { acknowledged })
})

t.test('checks nothing else in a database of another program', async (t) => {
  const { url, query } = await database()
  t.same(await findingsOf(url), { kind: 'fault it is empty' })
  await query('CREATE TABLE plants (id int)')
  t.same(await findingsOf(url), { kind: 'fault its table plants belongs to another program' })
})

t.test('a check of an unreachable database fails', async (t) => {
  const url = server.url('nowhere')
  const message = `cannot check the database ${url}: the store is failing: 3D000: database "nowhere" does not exist`
  await t.rejects(findingsOf(url), { constructor: StoreError, message })
})

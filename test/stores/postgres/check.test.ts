import t, { type Test } from 'tap'
import type { Member } from '../../../core/members/members.ts'
import { declareIndexes } from '../../../service/sorting.ts'
import { TokenStore } from '../../../service/token-store.ts'
import { checkDatabase } from '../../../src/stores/postgres/postgres-check.ts'
import { FIRST_VERSION, SCHEMA_VERSION } from '../../../src/stores/postgres/postgres-schema.ts'
import { PostgresStore } from '../../../src/stores/postgres/postgres-store.ts'
import {
  newerSchemaMessage,
  StoreError,
  schemaObstacle,
} from '../../../src/stores/shared/store-error.ts'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { sharedPostgres } from '../../helpers/service/shared-postgres.ts'
import { insertToken } from '../../helpers/service/token-rows.ts'
import { type Database, emptyDatabases, otherVersion, set } from './databases.ts'

const { server, emptyDatabase } = await sharedPostgres()
const database = emptyDatabases(server, emptyDatabase)

const timeout = 10_000

const NAME: Member = { name: 'name', type: 'string', isRequired: true }

const differs = (ids: string) =>
  `fault name: differs from the plants ${ids}; remove it with plant-store index remove, and restart the service, which builds it again`

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

t.test(
  'compares indexes with plants, except for those that other programs have changed',
  async (t) => {
    const { url, query } = await filledDatabase()
    const store = await PostgresStore.open({ url, timeout })
    t.teardown(() => store.close())
    const index = async () => (await findingsOf(url)).index
    const rest = Array.from({ length: 1500 }, (_, at) => ({ id: BigInt(at + 6), name: 'Acer' }))
    await importPlants(store, rest, 'stop')
    await declareIndexes(store, [NAME])
    t.equal(await index(), 'ok name: not complete, and not compared')
    while (await store.indexPlants());
    await query("UPDATE plants SET name = 'other' WHERE id = 4")
    await query('DELETE FROM plants WHERE id = 5')
    await query("INSERT INTO plants (id, name) VALUES (3000, 'new')")
    t.equal(await index(), 'ok name: complete')
    while (await store.indexPlants());
    t.equal(await index(), 'ok name: complete')

    await query("UPDATE plant_sort_keys SET key = '\\x00' WHERE id = 6")
    await query('DELETE FROM plant_sort_keys WHERE id = 1500')
    await query("INSERT INTO plant_sort_keys SELECT 5, min(number), '\\xff' FROM plant_sort_keys")
    t.equal(await index(), differs('6, 1500, 5'))
    await query('DELETE FROM plant_sort_keys')
    t.equal(await index(), differs('4, 6, 7, 8, 9, 10, 11, 12, 13, 14 and possibly others'))
    await query('INSERT INTO plants_without_keys SELECT generate_series(1, 100001)')
    t.equal(await index(), 'ok name: not complete, and not compared')
  },
)

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

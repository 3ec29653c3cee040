/** Restrictions that also apply to SQL. */

import pg from 'pg'
import t, { type Test } from 'tap'
import { INT64_MIN } from '../../../core/json/int64.ts'
import {
  incompleteError,
  readRestriction,
  restrict,
  restrictedError,
} from '../../../service/restriction.ts'
import { StoreUnavailable } from '../../../service/store/plant-store.ts'
import type { Run } from '../../../src/stores/postgres/connection/pooled-client.ts'
import { exportPlants } from '../../../src/stores/postgres/plants/reads.ts'
import { PostgresStore } from '../../../src/stores/postgres/postgres-store.ts'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { each } from '../../helpers/plants/lists.ts'
import { createIn, removeFrom } from '../../helpers/plants/single-changes.ts'
import { sharedPostgres } from '../../helpers/service/shared-postgres.ts'
import { changesAfter, contentOf, latest } from '../feed-reads.ts'
import { exported } from '../plants.ts'
import { emptyDatabases } from './databases.ts'
import { countWaiting, shortenLockWaits } from './sessions.ts'

const { server, migratedDatabase } = await sharedPostgres()
const database = emptyDatabases(server, migratedDatabase)

const FREEZE = { expected: undefined, next: 'frozen' } as const
const UNFREEZE = { expected: 'frozen', next: undefined } as const
const MIRROR = { source: 'https://source.example', cursor: 'x' }
const BEGIN = { expected: undefined, next: { ...MIRROR, copyFrom: INT64_MIN } }

/** A store of an empty database, and another connection. */
async function setUp(t: Test) {
  const made = await database()
  const open = async (options?: { readonly readsIncomplete?: boolean }) => {
    const store = await PostgresStore.open({ url: made.url, timeout: 60_000, ...options })
    t.teardown(() => store.close())
    return store
  }
  const client = new pg.Client({ connectionString: made.url })
  await client.connect()
  t.teardown(() => client.end())
  return { ...made, store: await open(), open, client }
}

/** Changes by SQL. Plant 1 exists. */
const CHANGES = [
  "INSERT INTO plants VALUES (2, 'x')",
  "INSERT INTO plants VALUES (1, 'x') ON CONFLICT DO NOTHING",
  "UPDATE plants SET name = 'x'",
  'DELETE FROM plants',
  'DELETE FROM plants WHERE false',
  'TRUNCATE plants',
  "SET session_replication_role = replica; INSERT INTO plants VALUES (2, 'x')",
]

for (const [what, next, detail] of [
  ['frozen database', 'frozen', ''],
  ['mirror', MIRROR, MIRROR.source],
] as const) {
  t.test(`a ${what} refuses changes by SQL`, async (t) => {
    const { store, client } = await setUp(t)
    const plant = { id: 1n, name: 'a' }
    await restrict(store, { expected: undefined, next, changes: each('put', [plant]) })
    for (const change of CHANGES) {
      await t.rejects(client.query(change), { code: 'PS001', detail }, change)
    }
    t.strictSame(await exported(store), [plant])
    await restrict(store, { expected: next, next: undefined })
    for (const change of CHANGES) await t.resolves(client.query(change), change)
  })
}

t.test('a transaction with a snapshot from before a freeze is refused', async (t) => {
  const { store, client } = await setUp(t)
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT id FROM plants')
  await restrict(store, FREEZE)
  await t.rejects(client.query("INSERT INTO plants VALUES (1, 'x')"), { code: 'PS001' })
})

t.test('a freeze begins and ends while plants are being read', async (t) => {
  const { store, client } = await setUp(t)
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT id FROM plants')
  t.equal(await restrict(store, FREEZE), 'done')
  t.equal(await restrict(store, UNFREEZE), 'done')
})

t.test('a mirror begins once no transaction is reading plants', async (t) => {
  const { store, client, name } = await setUp(t)
  await client.query('BEGIN; SELECT id FROM plants')
  const begun = restrict(store, BEGIN)
  while ((await countWaiting(server, name)) === 0);
  await client.query('COMMIT')
  t.equal(await begun, 'done')
  await t.rejects(client.query('SELECT id FROM plants WHERE can_read_plants()'), {
    code: 'PS002',
    detail: MIRROR.source,
  })
})

t.test(
  'an export refuses an incomplete snapshot, also of a mirror that is promoted meanwhile',
  async (t) => {
    const { store, client } = await setUp(t)
    await restrict(store, BEGIN)
    await client.query(
      'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT kind FROM plant_store_records',
    )
    await restrict(store, { expected: BEGIN.next, next: MIRROR })
    await restrict(store, { expected: MIRROR, next: undefined })
    const run: Run = async (text, values) => (await client.query(text, values && [...values])).rows
    const parts = exportPlants(run, false)
    await t.rejects(parts.next(), { ...incompleteError(MIRROR) })
  },
)

t.test('a freeze waits for transactions that change plants', async (t) => {
  const { store, client, name } = await setUp(t)
  await client.query("BEGIN; INSERT INTO plants VALUES (1, 'x')")
  const freeze = restrict(store, FREEZE)
  while ((await countWaiting(server, name)) === 0);
  const create = createIn(store, { id: 2n, name: 'x' })
  // The create can be refused before the freeze is done.
  const refused = t.rejects(create, { ...restrictedError('frozen') })
  while ((await countWaiting(server, name)) === 1);
  await client.query('COMMIT')
  t.equal(await freeze, 'done')
  await refused
  t.strictSame(await exported(store), [{ id: 1n, name: 'x' }])
})

t.test('a freeze fails if another transaction changes plants for long', async (t) => {
  const { open, client } = await setUp(t)
  const store = await open()
  await client.query("BEGIN; INSERT INTO plants VALUES (1, 'x')")
  const { undo } = shortenLockWaits(t)
  const message = /a freeze or mirror cannot begin or end while another transaction is changing/
  await t.rejects(restrict(store, FREEZE), { name: 'StoreUnavailable', reason: 'busy', message })
  undo()
  await client.query('COMMIT')
  t.equal(await createIn(store, { id: 2n, name: 'x' }), 'created')
  t.equal(await restrict(store, FREEZE), 'done')
})

t.test('an unknown error of a step is passed on', async (t) => {
  const { store, query } = await setUp(t)
  await restrict(store, FREEZE)
  await query('DROP TRIGGER refuse_changes ON plants')
  await t.rejects(restrict(store, UNFREEZE), {
    message: /trigger "refuse_changes".*does not exist/,
  })
  t.equal(await readRestriction(store), 'frozen')
})

t.test('a refused change keeps its connection', async (t) => {
  const { store, query } = await setUp(t)
  await restrict(store, FREEZE)
  const sessions = async () => {
    const others = 'datname = current_database() AND pid <> pg_backend_pid()'
    return new Set(
      (await query<{ pid: number }>(`SELECT pid FROM pg_stat_activity WHERE ${others}`)).map(
        ({ pid }) => pid,
      ),
    )
  }
  const before = await sessions()
  await t.rejects(createIn(store, { id: 1n, name: 'x' }), StoreUnavailable)
  await t.rejects(importPlants(store, [{ id: 1n, name: 'x' }], 'stop'), StoreUnavailable)
  t.same(await sessions(), before)
})

t.test('a new feed deletes the changes in the old one', async (t) => {
  const { store, url, query } = await setUp(t)
  // The ledger does not have these yet.
  await createIn(store, { id: 1n, name: 'x' })
  await removeFrom(store, 1n)
  await restrict(store, BEGIN)
  const retention = { age: 3_600_000, bytes: 2 ** 30 }
  const service = await PostgresStore.open({ url, timeout: 60_000, retention })
  t.teardown(() => service.close())
  while ((await query('SELECT FROM plant_changes')).length > 0);
  t.equal((await query('SELECT FROM plant_commits')).length, 1, 'the start of the new feed')
})

t.test('a copy begins a new feed in a restored database', async (t) => {
  const { open, query } = await setUp(t)
  const store = await open({ readsIncomplete: true })
  const before = await latest(store)
  await createIn(store, { id: 1n, name: 'x' })
  await removeFrom(store, 1n)
  await query("UPDATE plant_change_log SET database = 'another', seen = '1000000:1000000:'")
  await restrict(store, BEGIN)
  t.equal(await store.readChanges({ after: before, limit: 1 }), 'expired')
  await restrict(store, {
    expected: BEGIN.next,
    next: MIRROR,
    changes: each('put', [{ id: 2n, name: 'x' }]),
  })
  t.strictSame((await changesAfter(store)).map(contentOf), [['created', 2n, { name: 'x' }]])
})

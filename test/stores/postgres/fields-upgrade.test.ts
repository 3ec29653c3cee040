/** The upgrade from version 11, which adds the own fields of plants to their table and to the feed. */

import pg from 'pg'
import t, { type Test } from 'tap'
import { Connections } from '../../../src/stores/postgres/connection/connections.ts'
import { findEnd } from '../../../src/stores/postgres/feed/change-reads.ts'
import {
  FIRST_VERSION,
  MIGRATIONS,
  migrate,
  SCHEMA_VERSION,
} from '../../../src/stores/postgres/postgres-schema.ts'
import { PostgresStore } from '../../../src/stores/postgres/postgres-store.ts'
import { encodeCursor } from '../../../src/stores/shared/cursor.ts'
import { each } from '../../helpers/lists.ts'
import { sharedPostgres } from '../../helpers/shared-postgres.ts'
import { changesAfter, contentOf } from '../changes.ts'
import { exported } from '../plants.ts'
import { emptyDatabases } from './databases.ts'
import { countWaiting, shortenLockWaits } from './sessions.ts'

const { server, emptyDatabase } = await sharedPostgres()
const database = emptyDatabases(server, emptyDatabase)

/** What version 11 did when the feed was read. */
const APPEND = `
  WITH commits AS (
    SELECT tx, max(sequence) AS sequence FROM plant_changes, plant_change_log
    WHERE tx >= pg_snapshot_xmax(seen) GROUP BY tx
  ), appended AS (
    INSERT INTO plant_commits (position, tx, sequence, at, bytes)
    SELECT position + row_number() OVER (ORDER BY commits.sequence), tx, commits.sequence, 0, bytes
    FROM commits, plant_change_log
    RETURNING position
  )
  UPDATE plant_change_log SET position = (SELECT max(position) FROM appended), seen = pg_current_snapshot()`

/** A statement of version 11. */
const CREATE = 'INSERT INTO plants (id, name, tag) VALUES'

/** A database of version 11 with two changes in the feed, and a cursor after each. */
async function setUp(t: Test) {
  const made = await database()
  const connections = new Connections({ urls: [made.url], timeout: 60_000 })
  t.teardown(() => connections.close())
  await migrate(connections, MIGRATIONS.slice(0, 1))
  const run = <Row extends object>(text: string) => connections.query<Row>(text)
  const cursors: string[] = []
  for (const plant of ["(1, 'Abies', 'Tree')", "(2, 'Acer', NULL)"]) {
    await run(`${CREATE} ${plant}`)
    await run(APPEND)
    const end = await findEnd(run, 'latest')
    if (end !== undefined) cursors.push(encodeCursor(end))
  }
  const open = async () => {
    const store = await PostgresStore.open({ url: made.url, timeout: 60_000 })
    t.teardown(() => store.close())
    return store
  }
  const connect = async () => {
    const client = new pg.Client({ connectionString: made.url })
    await client.connect()
    t.teardown(() => client.end())
    return client
  }
  return { ...made, connections, cursors, open, connect }
}

const STORED = [
  { id: 1n, name: 'Abies', tag: 'Tree' },
  { id: 2n, name: 'Acer' },
]

/** The changes that version 11 has made. */
const LOGGED: readonly unknown[][] = [
  ['created', 1n, { name: 'Abies', tag: 'Tree' }],
  ['created', 2n, { name: 'Acer' }],
]

t.test('the upgrade keeps the plants, the feed and its cursors', async (t) => {
  const { query, cursors, open } = await setUp(t)
  await query(`${CREATE} (3, 'not in the ledger', NULL)`)
  const logged = [...LOGGED, ['created', 3n, { name: 'not in the ledger' }]]
  const stores = await Promise.all(Array.from({ length: 4 }, () => open()))
  const [store, other] = stores as [PostgresStore, PostgresStore]
  t.strictSame(await exported(other), [...STORED, { id: 3n, name: 'not in the ledger' }])
  await store.update(1n, { fields: '"height":1' })
  logged.push(['changed', 1n, { name: 'Abies', tag: 'Tree', fields: '"height":1' }])
  t.strictSame((await changesAfter(other)).map(contentOf), logged)
  t.equal(cursors.length, 2)
  for (const [index, cursor] of cursors.entries()) {
    t.strictSame((await changesAfter(other, cursor)).map(contentOf), logged.slice(index + 1))
  }
})

t.test('a replica of version 11 continues during and after the upgrade', async (t) => {
  const { open, connect, name } = await setUp(t)
  const old = await connect()
  const reading = await connect()
  await old.query(`BEGIN; ${CREATE} (3, 'before', NULL)`)
  await reading.query('BEGIN; SELECT id FROM plants')
  const opening = open()
  while ((await countWaiting(server, name)) === 0);
  await old.query(`${CREATE} (4, 'meanwhile', NULL)`)
  await old.query('COMMIT')
  await reading.query('COMMIT')
  const store = await opening
  await store.apply(
    each(
      'put',
      [1n, 2n].map((id) => ({ id, name: 'x', fields: '"height":1' })),
    ),
    'each',
  )
  await old.query(`${CREATE} (5, 'after', NULL)`)
  await old.query("UPDATE plants SET name = 'y', tag = NULL WHERE id = 1")
  await old.query('DELETE FROM plants WHERE id = 2')
  t.strictSame((await changesAfter(store)).map(contentOf), [
    ...LOGGED,
    ['created', 3n, { name: 'before' }],
    ['created', 4n, { name: 'meanwhile' }],
    ['changed', 1n, { name: 'x', fields: '"height":1' }],
    ['changed', 2n, { name: 'x', fields: '"height":1' }],
    ['created', 5n, { name: 'after' }],
    ['changed', 1n, { name: 'y', fields: '"height":1' }],
    ['removed', 2n],
  ])
})

t.test('an upgrade gives up if another transaction uses the plants for long', async (t) => {
  const { query, open, connect } = await setUp(t)
  const reading = await connect()
  await reading.query('BEGIN; SELECT id FROM plants')
  const message = /: its schema cannot be upgraded while another transaction is using the plants$/
  const { limits, undo } = shortenLockWaits(t)
  await t.rejects(open(), { message })
  t.same(new Set(limits), new Set(['54000ms']), 'the server gives up before the client')
  undo()
  t.same(await query('SELECT max(version) FROM plant_store_schema'), [{ max: FIRST_VERSION }])
  await query(`${CREATE} (3, 'still possible', NULL)`)
  await reading.query('COMMIT')
  t.equal((await exported(await open())).length, 3)
})

t.test('an upgrade that was interrupted before it was recorded is completed', async (t) => {
  const { query, open, connect } = await setUp(t)
  await (await open()).close()
  await query(`DELETE FROM plant_store_schema WHERE version > ${FIRST_VERSION}`)
  // It does not wait for the plants again.
  const reading = await connect()
  await reading.query('BEGIN; SELECT id FROM plants')
  t.strictSame(await exported(await open()), STORED)
  const found = await query<{ max: number }>('SELECT max(version) FROM plant_store_schema')
  t.same(found, [{ max: SCHEMA_VERSION }])
})

t.test('a role that only owns the database can upgrade it', async (t) => {
  const { name, url, query } = await database()
  const role = `user_of_${name}`
  await query(`CREATE ROLE ${role} LOGIN`)
  await query(`ALTER DATABASE ${name} OWNER TO ${role}`)
  const ofRole = url.replace(/\/\/\w+@/, `//${role}@`)
  const connections = new Connections({ urls: [ofRole], timeout: 60_000 })
  t.teardown(() => connections.close())
  await migrate(connections, MIGRATIONS.slice(0, 1))
  const store = await PostgresStore.open({ url: ofRole, timeout: 60_000 })
  t.teardown(() => store.close())
  const plant = { id: 1n, name: 'x', fields: '"height":1' }
  await store.create(plant)
  t.strictSame(await exported(store), [plant])
})

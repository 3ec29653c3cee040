/** The feed across restored databases, and while processes share it. */

import pg from 'pg'
import t, { type Test } from 'tap'
import { Connections } from '../../../../src/stores/postgres/connection/connections.ts'
import type { Run } from '../../../../src/stores/postgres/connection/pooled-client.ts'
import { lockFeed } from '../../../../src/stores/postgres/feed/ledger.ts'
import { PostgresFeed } from '../../../../src/stores/postgres/feed/postgres-feed.ts'
import type { PostgresOptions } from '../../../../src/stores/postgres/postgres-database.ts'
import { PostgresStore } from '../../../../src/stores/postgres/postgres-store.ts'
import { encodeCursor } from '../../../../src/stores/shared/cursor.ts'
import { NEW_FEED } from '../../../../src/stores/shared/engine.ts'
import { importPlants } from '../../../helpers/plants/import-plants.ts'
import { createIn, removeFrom, updateIn } from '../../../helpers/plants/single-changes.ts'
import { sharedPostgres } from '../../../helpers/service/shared-postgres.ts'
import { changesAfter, contentOf, eventually, latest, replay } from '../../feed-reads.ts'
import { exported } from '../../plants.ts'
import { emptyDatabases } from '../databases.ts'
import { shortenLockWaits } from '../sessions.ts'

const { server, emptyDatabase } = await sharedPostgres()
const database = emptyDatabases(server, emptyDatabase)

const KEEP = { age: 3_600_000, bytes: 2 ** 30 }

/** An empty database, and stores of it that are closed when the test ends. */
async function setUp(t: Test) {
  const made = await database()
  const open = async (options: Partial<PostgresOptions> = {}) => {
    const store = await PostgresStore.open({ url: made.url, timeout: 60_000, ...options })
    t.teardown(() => store.close())
    return store
  }
  /** A transaction that stays open after a statement. */
  const begin = async (statement: string) => {
    const client = new pg.Client({ connectionString: made.url })
    await client.connect()
    t.teardown(() => client.end())
    await client.query(`BEGIN; ${statement}`)
    return client
  }
  /** For how long a statement has waited for a lock. */
  const waitedMs = async () => {
    const [row] = await server.query<{ ms: number }>(`
      SELECT max((extract(epoch FROM clock_timestamp() - query_start) * 1000)::float) AS ms FROM pg_stat_activity
      WHERE datname = '${made.name}' AND wait_event_type = 'Lock'`)
    return row?.ms ?? 0
  }
  return { ...made, open, begin, waitedMs }
}

/** What a process does while it appends to the ledger. */
const LOCK_LEDGER = 'SELECT FROM plant_change_log FOR UPDATE'

/** Makes the feed that of another database, as in a restored dump. */
const MOVE = "UPDATE plant_change_log SET database = 'another'"

t.test('a read from the beginning starts again if its start is deleted meanwhile', async (t) => {
  const { open, query, url } = await setUp(t)
  const store = await open()
  for (const id of [1n, 2n]) {
    await createIn(store, { id, name: 'x' })
    await changesAfter(store)
  }
  const connections = new Connections({ urls: [url], timeout: 60_000 })
  t.teardown(() => connections.close())
  const send = connections.query.bind(connections)
  let finds = 0
  connections.query = async (text, values) => {
    const isFind = /position = \w+.oldest/.test(String(text))
    if (isFind) finds++
    // Another process is between its two statements, then has deleted what this one has found.
    if (isFind && finds === 1) await query('UPDATE plant_change_log SET oldest = 0')
    const rows = await send(text, values)
    if (isFind && finds === 1) {
      await query('UPDATE plant_change_log SET oldest = (SELECT min(position) FROM plant_commits)')
    } else if (isFind && finds === 2) {
      await query('UPDATE plant_change_log SET oldest = position')
      await query(
        'DELETE FROM plant_commits WHERE position < (SELECT oldest FROM plant_change_log)',
      )
    }
    return rows as never
  }
  const run: Run = (text, values) => connections.query(text, values)
  const page = await new PostgresFeed(connections, run).readChanges({ limit: 10 })
  t.match(page, { changes: [] })
  t.equal(finds, 3)
})

t.test('the cursor of another engine is expired', async (t) => {
  const store = await (await setUp(t)).open()
  const after = encodeCursor({ feedId: new Uint8Array(8), position: 1n, at: 1 })
  t.equal(await store.readChanges({ after, limit: 1 }), 'expired')
})

t.test('a large import brings the ledger up to date', async (t) => {
  const { open, query } = await setUp(t)
  const store = await open()
  const plants = Array.from({ length: 25_000 }, (_, id) => ({ id: BigInt(id), name: 'x' }))
  const commits = async () => (await query('SELECT FROM plant_commits')).length
  await importPlants(store, plants, 'stop')
  t.equal(await commits(), 1)
  await importPlants(store, plants, 'stop')
  t.equal(await commits(), 2)
  t.equal((await changesAfter(store)).length, plants.length)
  await query('DROP TABLE plant_change_log')
  await importPlants(store, plants, 'stop')
  t.equal((await importPlants(store, plants, 'stop')).length, plants.length, 'without a feed')
})

t.test('a read waits for the process that appends to the ledger', async (t) => {
  const { open, begin, waitedMs } = await setUp(t)
  const store = await open()
  const appending = await begin(LOCK_LEDGER)
  await createIn(store, { id: 1n, name: 'x' })
  const page = store.readChanges({ limit: 1 })
  const isWaiting = async () => {
    while ((await waitedMs()) < 1200);
  }
  // A read that fails ends the wait.
  await Promise.race([page, isWaiting()])
  await appending.query('COMMIT')
  t.match(await page, { changes: [{ id: 1n }] })
})

t.test(
  'a transaction that holds the ledger for long makes the feed busy, but not the plants',
  async (t) => {
    const { open, begin } = await setUp(t)
    const store = await open()
    const other = await begin(LOCK_LEDGER)
    const { limits } = shortenLockWaits(t)
    t.equal(await createIn(store, { id: 1n, name: 'x' }), 'created')
    const detail = /^55P03/
    await t.rejects(store.readChanges({ limit: 1 }), {
      name: 'StoreUnavailable',
      reason: 'busy',
      detail,
    })
    t.same(new Set(limits), new Set(['54000ms']), 'the server gives up before the client')
    await other.query('COMMIT')
    t.equal((await changesAfter(store)).length, 1)
  },
)

t.test('a new feed waits for transactions that change plants', async (t) => {
  const { open, begin, query, waitedMs } = await setUp(t)
  const store = await open()
  await createIn(store, { id: 1n, name: 'x' })
  await query(MOVE)
  const other = await begin("UPDATE plants SET name = 'y'")
  const { undo } = shortenLockWaits(t)
  await t.rejects(open(), {
    message: /: the change feed cannot begin while another transaction is changing plants$/,
  })
  undo()
  const opening = open()
  const isWaiting = async () => {
    while ((await waitedMs()) < 1200);
  }
  await Promise.race([opening, isWaiting()])
  await other.query('COMMIT')
  t.strictSame(await changesAfter(await opening), [])
})

t.test('an error while a new feed begins is reported', async (t) => {
  const { open, query } = await setUp(t)
  await open()
  await query(MOVE)
  await query('DROP TABLE plant_commits')
  await t.rejects(open(), { message: /relation "plant_commits" does not exist/ })
})

t.test('a process that is lost while it holds the ledger releases it', async (t) => {
  const { open, url } = await setUp(t)
  const connections = new Connections({ urls: [url], timeout: 60_000 })
  t.teardown(() => connections.close())
  const timeout = 'idle_in_transaction_session_timeout'
  const shown = await connections.unverifiedTransaction(async (run) => {
    await open()
    await lockFeed(run, 1000)
    return run(`SHOW ${timeout}`)
  })
  t.same(shown, [{ [timeout]: '10s' }])
  t.same(
    await connections.query(`SHOW ${timeout}`),
    [{ [timeout]: '0' }],
    'in no other transaction',
  )
})

t.test('replicas begin a new feed without a deadlock', async (t) => {
  const { open, name, query } = await setUp(t)
  const writer = await open()
  let isWriting = true
  const write = async (id: bigint) => {
    while (isWriting) {
      await createIn(writer, { id, name: 'x' })
      await updateIn(writer, id, { name: 'y' })
      await removeFrom(writer, id)
    }
  }
  const written = Promise.all([1n, 2n, 3n].map(write))
  for (let round = 0; round < 3; round++) {
    await query(MOVE)
    const stores = await Promise.all(Array.from({ length: 4 }, () => open({ retention: KEEP })))
    await Promise.all(stores.map((store) => store.readChanges({ limit: 10 })))
    await Promise.all(stores.map((store) => store.close()))
  }
  isWriting = false
  await written
  const service = await open({ retention: KEEP })
  const [start, plants] = [await latest(service), await exported(service)]
  await createIn(service, { id: 4n, name: 'x' })
  t.same(replay(await changesAfter(service, start), plants), await exported(service))
  const statistics = `SELECT deadlocks FROM pg_stat_database WHERE datname = '${name}'`
  t.same(await server.query(statistics), [{ deadlocks: '0' }])
})

/** What a database restored from a dump has: transaction ids of another server, which can be greater than its own. */
const RESTORED = `
  BEGIN;
  UPDATE plant_change_log SET database = 'another', seen = '1000000:1000000:';
  UPDATE plant_commits SET tx = (tx::text::bigint + 1000000)::text::xid8;
  UPDATE plant_changes SET tx = (tx::text::bigint + 1000000)::text::xid8;
  INSERT INTO plant_changes (tx, sequences, types, ids, names, tags, text)
  VALUES ('1000001', '{1000000}', '{r}', '{1}', '{NULL}', '{NULL}', 0);
  COMMIT`

for (const [what, options] of [
  ['a service', { retention: KEEP }],
  ['a command', {}],
] as const) {
  t.test(`cursors from before a restore are expired: ${what}`, async (t) => {
    const { open, query } = await setUp(t)
    const before = await open()
    const cursors = [await latest(before)]
    await createIn(before, { id: 1n, name: 'x' })
    cursors.push(await latest(before))
    await before.close()
    await query(RESTORED)
    const problems: string[] = []
    const onProblem = (problem: string) => problems.push(problem)
    const after = await open({ ...options, onProblem })
    for (const cursor of cursors) {
      t.equal(await after.readChanges({ after: cursor, limit: 1 }), 'expired')
    }
    const start = await latest(after)
    await createIn(after, { id: 2n, name: 'x' })
    t.strictSame((await changesAfter(after)).map(contentOf), [['created', 2n, { name: 'x' }]])
    const again = await open({ retention: KEEP, onProblem })
    t.equal((await changesAfter(again, start)).length, 1)
    t.same(problems, [NEW_FEED], 'once')
  })
}

t.test('a service notices that its database was replaced by a restored one', async (t) => {
  const { open, query } = await setUp(t)
  const service = await open({ retention: KEEP })
  await createIn(service, { id: 1n, name: 'x' })
  const cursor = await latest(service)
  await query(RESTORED)
  t.equal(await service.readChanges({ after: cursor, limit: 1 }), 'expired')
  await createIn(service, { id: 2n, name: 'x' })
  t.strictSame((await changesAfter(service)).map(contentOf), [['created', 2n, { name: 'x' }]])
})

t.test('a commit of another process ends the wait, which a failure does not', async (t) => {
  const { open, name } = await setUp(t)
  const [store, other] = [await open(), await open()]
  await latest(store)
  const waiting = store.nextCommit()
  await server.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
  await server.query(
    `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '${name}'`,
  )
  await t.rejects(store.readChanges({ limit: 1 }), { name: 'StoreUnavailable' })
  await server.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`)
  await createIn(other, { id: 1n, name: 'x' })
  await waiting
  await eventually(store, async () => (await changesAfter(store)).length === 1)
})

t.test('a large statement is logged in rows of limited size', async (t) => {
  const { open, query } = await setUp(t)
  const store = await open()
  await query(
    "INSERT INTO plants SELECT n, repeat('x', n % 200) FROM generate_series(1, 5000) AS n",
  )
  const rows = await query<Record<'first' | 'last' | 'text' | 'at', number>>(`
    SELECT sequences[1]::int AS first, sequence::int AS last, text::int, extract(epoch FROM at)::float AS at
    FROM plant_changes ORDER BY sequence`)
  t.ok(rows.length > 40, `${rows.length} rows`)
  t.notOk(rows.find(({ text }) => text > 17_000))
  for (const [index, { first, at }] of rows.slice(1).entries()) {
    const previous = rows[index]
    if (previous === undefined || first <= previous.last || at < previous.at) t.fail(`row ${index}`)
  }
  // The numbers of the first attempt are not used.
  t.ok(Number(rows.at(-1)?.last) < 5300, 'few numbers are drawn twice')
  const ids = (await changesAfter(store)).map(({ id }) => id)
  t.same(
    ids,
    Array.from({ length: 5000 }, (_, index) => BigInt(index + 1)),
  )
})

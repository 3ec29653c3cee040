/** Which changes are kept, and how the others are deleted. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import t, { type Test } from 'tap'
import type { Change } from '../../../../service/store/change-feed.ts'
import { Connections } from '../../../../src/stores/postgres/connection/connections.ts'
import { PooledClient } from '../../../../src/stores/postgres/connection/pooled-client.ts'
import {
  maintainChanges,
  pruneChanges,
} from '../../../../src/stores/postgres/feed/change-retention.ts'
import type { PostgresOptions } from '../../../../src/stores/postgres/postgres-database.ts'
import { PostgresStore } from '../../../../src/stores/postgres/postgres-store.ts'
import { createIn, removeFrom } from '../../../helpers/plants/single-changes.ts'
import { sharedPostgres } from '../../../helpers/service/shared-postgres.ts'
import { changesAfter, latest, pageOf } from '../../feed-reads.ts'
import { emptyDatabases } from '../databases.ts'

const { server, emptyDatabase } = await sharedPostgres()
const database = emptyDatabases(server, emptyDatabase)

const FOREVER = 3_600_000
const UNLIMITED = 2 ** 40
const running = new AbortController().signal

/** A feed with a start and several commits of one change each. */
async function setUp(t: Test, commits: number) {
  const { url, query } = await database()
  const open = async (options: Partial<PostgresOptions> = {}) => {
    const store = await PostgresStore.open({ url, timeout: 60_000, ...options })
    t.teardown(() => store.close())
    return store
  }
  const connections = new Connections({ urls: [url], timeout: 60_000 })
  t.teardown(() => connections.close())
  const store = await open()
  const start = await latest(store)
  for (let id = 1; id <= commits; id++) await createIn(store, { id: BigInt(id), name: 'x' })
  const changes = await changesAfter(store, start)
  const rows = async () => ({
    commits: (await query('SELECT FROM plant_commits')).length,
    changes: (await query('SELECT FROM plant_changes')).length,
  })
  return { url, query, open, connections, store, start, changes, rows }
}

/** Makes commits look older than they are. Their cursors expire. */
const AGE = 'UPDATE plant_commits SET at = at - 1000000 WHERE position <='

function cursorOf(change: Change | undefined): string {
  return change?.cursor ?? ''
}

t.test('changes that are too old are deleted, up to the last of them', async (t) => {
  const { query, connections, store, start, changes, rows } = await setUp(t, 5)
  await query(`${AGE} 4`)
  const aged = await changesAfter(store)
  await pruneChanges(connections, { age: 100_000, bytes: UNLIMITED }, running)
  t.same(await rows(), { commits: 3, changes: 3 })
  t.same(
    (await changesAfter(store)).map(({ id }) => id),
    [4n, 5n],
  )
  for (const after of [start, cursorOf(changes[0]), cursorOf(changes[1])]) {
    t.equal(await store.readChanges({ after, limit: 1 }), 'expired')
  }
  t.same((await changesAfter(store, cursorOf(changes[3]))).length, 1)
  t.same((await changesAfter(store, cursorOf(aged[2]))).length, 2, 'the last one before them')
})

t.test('a commit that must be kept keeps all after it, whatever their times are', async (t) => {
  const { query, connections, store, start, rows } = await setUp(t, 5)
  const retention = { age: 100_000, bytes: UNLIMITED }
  await query(`${AGE} 5 AND position >= 4`)
  await pruneChanges(connections, retention, running)
  t.same(await rows(), { commits: 6, changes: 5 })
  t.equal((await changesAfter(store, start)).length, 5)
  await query(`${AGE} 2`)
  await pruneChanges(connections, retention, running)
  t.same(await rows(), { commits: 5, changes: 5 })
})

t.test('the cursor of a follower that is up to date survives an idle time', async (t) => {
  const { connections, store } = await setUp(t, 3)
  const cursor = await latest(store)
  const retention = { age: -1000, bytes: UNLIMITED }
  await pruneChanges(connections, retention, running)
  t.same(await pageOf(store, cursor), { changes: [], next: cursor })
  await removeFrom(store, 1n)
  t.equal((await changesAfter(store, cursor)).length, 1)
})

t.test('a change after an idle time does not expire the cursor before it', async (t) => {
  const { query, connections, store } = await setUp(t, 3)
  const retention = { age: 100_000, bytes: UNLIMITED }
  await query(`${AGE} 4`)
  const cursor = await latest(store)
  await pruneChanges(connections, retention, running)
  await removeFrom(store, 1n)
  await removeFrom(store, 2n)
  await latest(store)
  await pruneChanges(connections, retention, running)
  t.equal((await changesAfter(store, cursor)).length, 2)
})

t.test('the oldest changes are deleted if the feed is too large', async (t) => {
  const { connections, store, rows } = await setUp(t, 0)
  // The server cannot compress it.
  const name = randomBytes(50_000).toString('hex')
  for (let id = 1n; id <= 10n; id++) await createIn(store, { id, name })
  await latest(store)
  await pruneChanges(connections, { age: FOREVER, bytes: 450_000 }, running)
  // With the one that exceeds the limit.
  t.same(
    (await changesAfter(store)).map(({ id }) => id),
    [6n, 7n, 8n, 9n, 10n],
  )
  t.same(await rows(), { commits: 6, changes: 6 })
})

t.test('a service brings the feed up to date and deletes old changes by itself', async (t) => {
  const { open, query, rows } = await setUp(t, 5)
  await query("UPDATE plants SET name = 'y' WHERE id = 5")
  await query(`${AGE} 6`)
  const service = await open({ retention: { age: 1, bytes: UNLIMITED } })
  while ((await rows()).commits > 1);
  await service.close()
  t.same(await rows(), { commits: 1, changes: 1 })
})

t.test("a step of the server's clock is reported, and deletes nothing", async (t) => {
  const { connections, store, start } = await setUp(t, 3)
  const problem = Promise.withResolvers<string>()
  const { query } = Connections.prototype
  let looks = 0
  t.intercept(Connections.prototype, 'query', {
    async value(this: Connections, text: string, ...others: unknown[]) {
      const rows = await Reflect.apply(query, this, [text, ...others])
      if (!text.endsWith('AS now')) return rows
      const [{ now }] = rows
      return [{ now: ++looks === 1 ? now : now + BigInt(2 * FOREVER) }]
    },
  })
  const retention = { age: FOREVER, bytes: UNLIMITED }
  const stop = new AbortController()
  const maintenance = maintainChanges({
    connections,
    retention,
    update: async () => {},
    onProblem: problem.resolve,
    intervalMs: 1,
    signal: stop.signal,
  })
  t.match(await problem.promise, /^the clock went forward by 120 min/)
  stop.abort()
  await maintenance
  t.equal((await changesAfter(store, start)).length, 3)
})

t.test('a store without a retention deletes nothing', async (t) => {
  const { open, query, start, store } = await setUp(t, 5)
  await query(`${AGE} 4`)
  await (await open()).close()
  t.equal((await changesAfter(store)).length, 5)
  t.equal(await store.readChanges({ after: start, limit: 1 }), 'expired', 'its time has changed')
})

t.test('large commits and many commits are deleted in steps, by several processes', async (t) => {
  const { url, query, connections, store, rows } = await setUp(t, 0)
  await query(
    `DO $$ BEGIN FOR n IN 1..2500 LOOP INSERT INTO plants VALUES (n, 'x'); END LOOP; END $$`,
  )
  await query(`
    DO $$ BEGIN FOR n IN 1..2500 LOOP DELETE FROM plants WHERE id = n; COMMIT; END LOOP; END $$`)
  await createIn(store, { id: 1n, name: 'last' })
  await latest(store)
  await query(`${AGE} 2502`)
  const retention = { age: 100_000, bytes: UNLIMITED }
  const statements: string[] = []
  const { query: send } = pg.Client.prototype
  const sent = t.intercept(pg.Client.prototype, 'query', {
    value(this: pg.Client, text: string, ...others: unknown[]) {
      statements.push(text)
      return Reflect.apply(send, this, [text, ...others])
    },
  })
  const other = new Connections({ urls: [url], timeout: 60_000 })
  t.teardown(() => other.close())
  await Promise.all([connections, other].map((each) => pruneChanges(each, retention, running)))
  sent.restore()
  t.same(await rows(), { commits: 2, changes: 2 })
  const deletions = statements.filter((text) => /DELETE FROM plant_changes/.test(text))
  t.ok(deletions.length >= 5, `${deletions.length}`)
})

t.test('deleting ends early when the store closes', async (t) => {
  const { connections, query, rows } = await setUp(t, 5)
  await query(`${AGE} 4`)
  await pruneChanges(connections, { age: 100_000, bytes: UNLIMITED }, AbortSignal.abort())
  t.same(await rows(), { commits: 6, changes: 5 })
})

for (const [what, statement] of [
  ['before it is read', /"isKept"/],
  ['before the standbys have it', /FOR KEY SHARE/],
] as const) {
  t.test(`a page that is deleted ${what} is read again`, async (t) => {
    const { connections, query, open, changes } = await setUp(t, 5)
    const reader = await open()
    await query(`${AGE} 5`)
    const { query: send } = PooledClient.prototype
    let isPruned = false
    t.intercept(PooledClient.prototype, 'query', {
      async value(this: PooledClient, text: string, ...others: unknown[]) {
        if (statement.test(text) && !isPruned) {
          isPruned = true
          await pruneChanges(connections, { age: 100_000, bytes: UNLIMITED }, running)
        }
        return Reflect.apply(send, this, [text, ...others])
      },
    })
    const { changes: kept } = await pageOf(reader, undefined, 2)
    t.ok(isPruned)
    t.same(
      kept.map(({ id }) => id),
      [changes.at(-1)?.id],
    )
  })
}

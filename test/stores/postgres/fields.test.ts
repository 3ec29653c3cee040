/** The space that the own fields of plants take. */

import t, { type Test } from 'tap'
import { PostgresStore } from '../../../src/stores/postgres/postgres-store.ts'
import { createIn } from '../../helpers/plants/single-changes.ts'
import { sharedPostgres } from '../../helpers/service/shared-postgres.ts'
import { changesAfter, contentOf, latest } from '../feed-reads.ts'
import { emptyDatabases } from './databases.ts'

const { server, migratedDatabase } = await sharedPostgres()
const database = emptyDatabases(server, migratedDatabase)

async function setUp(t: Test) {
  const made = await database()
  const store = await PostgresStore.open({ url: made.url, timeout: 60_000 })
  t.teardown(() => store.close())
  return { ...made, store }
}

t.test('fields count toward the size of rows and of pages of the feed', async (t) => {
  const { store, query } = await setUp(t)
  await query(`
    INSERT INTO plants (id, name, fields)
    SELECT n, 'x', '"note":"' || (
      SELECT string_agg(md5(n || '/' || part), '') FROM generate_series(1, 32) AS part
    ) || '"' FROM generate_series(1, 100) AS n`)
  const rows = await query<{ text: number; fields: number }>(
    'SELECT text::int, cardinality(fields) AS fields FROM plant_changes',
  )
  t.ok(rows.length >= 6, `${rows.length} rows`)
  t.notOk(rows.find(({ text }) => text > 17_000))
  t.equal(
    rows.reduce((sum, { fields }) => sum + fields, 0),
    100,
  )
  const before = await latest(store)
  const [size] = await query<{ bytes: number }>('SELECT bytes::int FROM plant_change_log')
  t.ok(Number(size?.bytes) > 100_000, `${size?.bytes} bytes`)
  const long = `"note":"${'x'.repeat(2 ** 20)}"`
  for (let id = 0n; id < 10n; id++) await createIn(store, { id: -id, name: 'x', fields: long })
  const page = await store.readChanges({ after: before, limit: 1000 })
  t.ok(typeof page === 'object' && page.changes.length < 10)
  t.equal((await changesAfter(store, before)).length, 10)
})

t.test('changes without fields take no space for them', async (t) => {
  const { store, query } = await setUp(t)
  await Promise.all([1n, 2n].map((id) => createIn(store, { id, name: 'x' })))
  t.same(await query('SELECT FROM plant_changes WHERE fields IS NOT NULL'), [])
  t.strictSame(await changesAfter(store).then((changes) => changes.map(contentOf)), [
    ['created', 1n, { name: 'x' }],
    ['created', 2n, { name: 'x' }],
  ])
})

/** Verifies that no statement of the store scans a table, except those listed here with a reason. */
import pg from 'pg'
import t from 'tap'
import { SEARCH_MAX } from '../../../service/store/plant-store.ts'
import { FIND_OLDEST, TAKE } from '../../../src/stores/postgres/feed/change-retention.ts'
import { COUNT, COUNT_MATCHING } from '../../../src/stores/postgres/plants/counts.ts'
import { SEARCH } from '../../../src/stores/postgres/plants/searches.ts'
import { FIND_NEXT } from '../../../src/stores/postgres/plants/sort-keys.ts'
import { PostgresStore } from '../../../src/stores/postgres/postgres-store.ts'
import { LIST } from '../../../src/stores/postgres/records/records.ts'
import { sharedPostgres } from '../../helpers/service/shared-postgres.ts'
import { STORE_CALLS } from '../store-calls.ts'

/** Statements that can scan a table, with the reason. */
const SCANS: Record<string, string> = {
  [LIST]: 'reads all records of some kinds, of which there are few',
  [FIND_OLDEST]: 'examines at most 1,000 commits',
  [TAKE]: 'examines at most 1,000 commits',
  ...forEach(
    [...Object.values(SEARCH), COUNT_MATCHING].flatMap(Object.values),
    'examines at most 4,000 plants',
  ),
  [FIND_NEXT]: 'reads the next 1,000 plants',
}

function forEach(statements: readonly string[], reason: string): Record<string, string> {
  return Object.fromEntries(statements.map((sql) => [sql, reason]))
}

/** Statements that examine as many plants as their second parameter says. */
const LIMITED = Object.values(COUNT)

const ADVICE =
  'The cost of this statement grows with the number of rows. Add an index to MIGRATIONS in ' +
  'src/stores/postgres/postgres-schema.ts, rewrite the statement, or add it to SCANS in ' +
  'test/stores/postgres/query-plans.test.ts with a reason.'

/** A node of a plan that was executed (https://www.postgresql.org/docs/current/using-explain.html). */
interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Plan[]
}

/** The rows that a statement can examine: far fewer than there are, and more than any call here returns. */
const EXAMINED_MAX = 100

const { emptyDatabase } = await sharedPostgres()
const url = await emptyDatabase()
const store = await PostgresStore.open({ url, timeout: 60_000 })
t.teardown(() => store.close())
const client = new pg.Client({ connectionString: url })
await client.connect()
t.teardown(() => client.end())

// Enough for the planner to prefer an index. The plants of the tag have the greater ids, so finding them by id alone
// would examine all others.
await client.query(`
  INSERT INTO plants SELECT n, 'plant ' || n, CASE WHEN n > 10000 THEN 'tag 1' END FROM generate_series(1, 40000) AS n;
  INSERT INTO plant_store_records
    SELECT 'token', 'token ' || n, n, '{}' FROM generate_series(1, 2000) AS n;
  ANALYZE plants, plant_store_records`)
// Many changes in one commit, then many commits.
await store.readChanges({ limit: 1 })
await client.query(`
  DO $$ BEGIN FOR n IN 1..2000 LOOP UPDATE plants SET tag = 'x' WHERE id = n; COMMIT; END LOOP; END $$`)
await store.readChanges({ limit: 1 })
await client.query('ANALYZE plant_changes, plant_commits')

/** The statements of the store, each with the values of its first call. */
const statements = new Map<string, unknown[]>()
const { query } = pg.Client.prototype
const queries = t.intercept(pg.Client.prototype, 'query', {
  value(this: pg.Client, text: string, values: unknown[], ...others: unknown[]) {
    const isNew = !statements.has(text)
    if (isNew && /^\s*(SELECT|WITH|INSERT|UPDATE|DELETE|MERGE)\b/i.test(text))
      statements.set(text, values)
    return Reflect.apply(query, this, [text, values, ...others])
  },
})
for (const call of STORE_CALLS) await call(store)
await deleteOldChanges()
queries.restore()

for (const [text, values] of statements) {
  t.test(`does not scan a table: ${text.replace(/\s+/g, ' ').trim()}`, async (t) => {
    await client.query('BEGIN')
    if (LIMITED.includes(text)) values[1] = EXAMINED_MAX
    const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values)
    await client.query('ROLLBACK')
    const examined = rowsExamined(rows[0]['QUERY PLAN'][0].Plan)
    const max = text in SCANS ? SEARCH_MAX.plants : EXAMINED_MAX
    t.ok(examined <= max, `examines ${examined} rows, more than ${max}. ${ADVICE}`)
  })
}

t.test('every statement in SCANS is still sent', async (t) => {
  t.ok(statements.size > Object.keys(SCANS).length)
  for (const text of [...Object.keys(SCANS), ...LIMITED]) {
    t.ok(statements.has(text), `no longer sent: remove it from SCANS: ${text}`)
  }
})

/** Deletes the first commit, which is that of the start of the feed. */
async function deleteOldChanges(): Promise<void> {
  const { rows } = await client.query(
    `SELECT feed.bytes - commits.bytes AS bytes FROM plant_change_log AS feed, plant_commits AS commits
     WHERE commits.position = 2`,
  )
  const retention = { age: 1e9, bytes: Number(rows[0].bytes) }
  const service = await PostgresStore.open({ url, timeout: 60_000, retention })
  const first = 'SELECT FROM plant_commits WHERE position = 1'
  while ((await client.query(first)).rows.length > 0);
  await service.close()
}

/** The rows that the scans of a plan read from our tables, including those that did not match. */
function rowsExamined(plan: Plan): number {
  const below = (plan.Plans ?? []).reduce((sum, child) => sum + rowsExamined(child), 0)
  const { 'Node Type': type, 'Relation Name': relation = 'pg_' } = plan
  const isScan = type.endsWith('Scan') && !relation.startsWith('pg_')
  if (!isScan) return below
  return (
    below + plan['Actual Loops'] * (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0))
  )
}

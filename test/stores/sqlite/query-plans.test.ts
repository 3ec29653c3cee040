/** Verifies that no statement of the store scans a table, except those listed here with a reason. */
import t from 'tap'
import { openDatabase } from '../../../src/stores/sqlite/database.ts'
import { SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import { STORE_CALLS } from '../store-calls.ts'
import { statementsDuring } from './statements.ts'

/** Statements that can scan a table, with the reason. */
const SCANS: Record<string, string> = {
  'SELECT * FROM plants ORDER BY id': 'an export reads all plants',
  'SELECT * FROM tokens ORDER BY name': 'reads all tokens, of which there are few',
  'SELECT 1 FROM plants LIMIT 1': 'stops at the first row',
  'SELECT 1 FROM tokens LIMIT 1': 'stops at the first row',
}

const ADVICE =
  'Its cost grows with the number of rows: add an index to MIGRATIONS in src/stores/sqlite/schema.ts, ' +
  'rewrite the statement, or list it in SCANS with a reason.'

const statements = await statementsDuring(async () => {
  const store = new SqliteStore({ file: ':memory:', lockTimeout: 0 })
  for (const call of Object.values(STORE_CALLS).flat()) await call(store)
  await store.close()
})
const planned = [...statements].filter((sql) => /\b(FROM|UPDATE|INTO) (plants|tokens)\b/.test(sql))

const db = openDatabase({ file: ':memory:', lockTimeout: 0 })
t.teardown(() => db.close())

for (const sql of planned) {
  t.test(`uses an index: ${sql}`, async (t) => {
    const parameters = Array<null>(sql.split('?').length - 1).fill(null)
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(parameters) as { detail: string }[]
    const steps = plan.map(({ detail }) => detail)
    const slow = steps.filter((step) => !step.startsWith('SEARCH '))
    if (sql in SCANS) return t.not(slow.length, 0, 'uses an index: remove it from SCANS')
    t.same(slow, [], `scans or sorts a table. ${ADVICE}`)
    for (const column of columnsCompared(sql)) {
      t.match(steps.join(), `${column}=?`, `does not find rows by ${column}. ${ADVICE}`)
    }
  })
}

/** The columns that a WHERE clause compares for equality, as they are called in plans. */
function columnsCompared(sql: string): string[] {
  const [, condition = ''] = sql.split(' WHERE ')
  const columns = [...condition.matchAll(/(\w+) = \?/g)].map(([, column]) => `${column}`)
  return columns.map((column) => (column === 'id' ? 'rowid' : column))
}

t.test('the statements of the store were observed', async (t) => {
  t.ok(planned.length > Object.keys(SCANS).length)
  for (const sql of Object.keys(SCANS)) {
    t.ok(planned.includes(sql), `not used any more: remove it from SCANS: ${sql}`)
  }
})

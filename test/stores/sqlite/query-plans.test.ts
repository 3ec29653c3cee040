import Sqlite, { type Database } from 'better-sqlite3'
import t from 'tap'
import { DELETE_SOME, FEED_START } from '../../../src/stores/sqlite/feed/change-pruner.ts'
import { openDatabase } from '../../../src/stores/sqlite/file/database.ts'
import {
  COUNT,
  COUNT_MATCHING,
  RANGE_END,
  RANGE_END_OF_TAG,
} from '../../../src/stores/sqlite/reads/plant-count.ts'
import { prepareMatch } from '../../../src/stores/sqlite/reads/plant-search.ts'
import { MEASURE } from '../../../src/stores/sqlite/reads/plant-slices.ts'
import { LIST_RECORDS } from '../../../src/stores/sqlite/reads/reader.ts'
import { KEY, NEEDS_KEYS, UNSORTED } from '../../../src/stores/sqlite/reads/sorted-plants.ts'
import { SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import {
  FIND_ALL,
  MEASURE_ALL,
  STORE_ALL,
} from '../../../src/stores/sqlite/writer/plant-changes.ts'
import { MARKED, REMOVE_KEYS } from '../../../src/stores/sqlite/writer/sort-keys.ts'
import { STORE_CALLS } from '../store-calls.ts'

/** Verifies that no statement of the store scans a table, except those listed here with a reason. */

/** Statements that can scan a table, with the reason. */
const SCANS: Record<string, string> = {
  'SELECT * FROM plants ORDER BY id': 'an export reads all plants',
  'SELECT id FROM change_log': 'reads the only row',
  [DELETE_SOME]: 'deletes a bounded number of rows from the first one on',
  [FEED_START]: 'looks up the first or last row of an index',
  [LIST_RECORDS]: 'reads all records of some kinds, of which there are few',
  'SELECT count(*) FROM plant_store_records WHERE kind = ?': 'there are few records',
  ...forEach(
    [
      'UPDATE plant_store_records SET value = ? WHERE kind = ? AND key = ? AND value = ?',
      'DELETE FROM plant_store_records WHERE kind = ? AND key = ? AND value = ?',
    ],
    'compares the value of the row that it finds by its key',
  ),
  [MARKED]: 'reads a bounded number of plants that have changed',
  [UNSORTED]: 'reads a bounded number of plants that have changed',
  [NEEDS_KEYS]: 'stops at the first row',
  [REMOVE_KEYS]: 'removes a bounded number of keys',
  ...forEach(
    [KEY, 'DELETE FROM plant_sort_keys WHERE id = ?'],
    'finds rows by their primary key, which begins with the id',
  ),
  [MEASURE_ALL]: 'measures the plants of a list',
  [FIND_ALL]: 'reads the plants of a list',
  [STORE_ALL]: 'stores the plants of a list',
  ...forEach(Object.values(MEASURE.ascending), 'measures a bounded number of plants'),
  ...forEach(Object.values(MEASURE.descending), 'measures a bounded number of plants'),
  ...forEach(Object.values(COUNT), 'counts a bounded number of plants'),
  ...forEach(Object.values(COUNT_MATCHING), 'counts the plants of a slice'),
  'SELECT 1 FROM plants LIMIT 1': 'stops at the first row',
}

function forEach(statements: readonly string[], reason: string): Record<string, string> {
  return Object.fromEntries(statements.map((sql) => [sql, reason]))
}

const ADVICE =
  'The cost of this statement grows with the number of rows. Add an index to MIGRATIONS in src/stores/sqlite/file/sqlite-schema.ts, ' +
  'rewrite the statement, or add it to SCANS in test/stores/sqlite/query-plans.test.ts with a reason.'

/** These read every row of a range before they return one, which a plan does not show. */
const WHOLE_RANGE = /\b(DISTINCT|GROUP BY|OVER|count|sum|total|avg|group_concat|string_agg)\b/i

/** The least or greatest value of a primary key: SQLite reads a single row. */
const KEY_EXTREME = /\b(?:min|max)\((?:id|position)\)/i

/** That of another column: without an index, the plan has a `SEARCH`, but SQLite reads all rows. */
const OTHER_EXTREME = /\b(?:min|max)\((?!(?:id|position)\))/i

const statements = await statementsDuring(async () => {
  const store = new SqliteStore({ file: ':memory:', lockTimeout: 0 })
  for (const call of STORE_CALLS) await call(store)
  await store.close()
})
const planned = [...statements].filter(
  (sql) =>
    /^\s*(SELECT|WITH|INSERT|UPDATE|DELETE|REPLACE)\b/i.test(sql) && !sql.includes('sqlite_schema'),
)

const db = openDatabase({ file: ':memory:', lockTimeout: 0 })
prepareMatch(db)
t.teardown(() => db.close())

for (const sql of planned) {
  t.test(`does not scan a table: ${sql}`, async (t) => {
    const problems = problemsOf(sql)
    if (sql in SCANS) t.not(problems.length, 0, 'no longer scans a table: remove it from SCANS')
    else t.same(problems, [], ADVICE)
  })
}

/** Why the cost of a statement grows with the number of rows. */
function problemsOf(sql: string): string[] {
  const parameters = Array<null>(sql.split('?').length - 1).fill(null)
  const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(parameters) as { detail: string }[]
  const steps = plan.map(({ detail }) => detail)
  const lookup = OTHER_EXTREME.test(sql) ? /^SEARCH \w+ USING / : /^SEARCH /
  const slow = steps.filter((step) => !lookup.test(step) && !step.startsWith('SCALAR SUBQUERY '))
  const unused = columnsCompared(sql).filter((column) => !steps.join().includes(`${column}=?`))
  const [wholeRange] = WHOLE_RANGE.exec(sql) ?? []
  const isLimited = /\bLIMIT\b/i.test(sql) || KEY_EXTREME.test(sql)
  const isUnlimited = /[<>]\?/.test(steps.join()) && !isLimited
  return [
    ...slow.map((step) => `the plan has the step ${step}`),
    ...unused.map((column) => `the plan does not find rows by ${column}`),
    ...(wholeRange === undefined ? [] : [`${wholeRange} reads every row that matches`]),
    ...(isUnlimited ? ['it reads a range without LIMIT'] : []),
  ]
}

/** The columns that a WHERE clause compares for equality, as they are called in plans. */
function columnsCompared(sql: string): string[] {
  const [, condition = ''] = sql.split(' WHERE ')
  const columns = [...condition.matchAll(/(\w+) = \+?\?/g)].map(([, column]) => `${column}`)
  return columns.map((column) => (['id', 'position'].includes(column) ? 'rowid' : column))
}

/** Statements that examine plants of any size, many at a time. */
const MEASURES = [
  ...Object.values(MEASURE.ascending),
  ...Object.values(MEASURE.descending),
  RANGE_END,
  RANGE_END_OF_TAG,
  ...Object.values(COUNT),
]

/** The flags of the instruction Column that read the type or the length of a value from the beginning of its row. */
const HEADER_ONLY = [0x80, 0xc0]

for (const sql of MEASURES) {
  t.test(`does not read the text of plants: ${sql}`, (t) => {
    const program = db.prepare(`EXPLAIN ${sql}`).all(
      sql
        .split('?')
        .slice(1)
        .fill(null as never),
    )
    const read = (program as Instruction[]).filter(
      ({ opcode, p5 }) => opcode === 'Column' && !HEADER_ONLY.includes(Number(p5)),
    )
    const tables = (program as Instruction[]).filter(({ opcode }) => opcode === 'OpenRead')
    // An index begins with the tag, and has the id in the same entry.
    const cursors = tables.filter(({ p4 }) => !String(p4).startsWith('k(')).map(({ p1 }) => p1)
    t.same(
      read.filter(({ p1 }) => cursors.includes(p1)),
      [],
      'it would walk the pages of long names',
    )
    t.end()
  })
}

interface Instruction {
  readonly opcode: string
  readonly p1: bigint
  readonly p4: string
  readonly p5: bigint
}

t.test('every statement in SCANS is still sent', async (t) => {
  t.ok(planned.length > Object.keys(SCANS).length)
  for (const sql of Object.keys(SCANS)) {
    t.ok(planned.includes(sql), `no longer sent: remove it from SCANS: ${sql}`)
  }
})

/** The statements that are prepared while `work` runs, on any connection of this thread. */
export async function statementsDuring(work: () => Promise<unknown>): Promise<Set<string>> {
  const statements = new Set<string>()
  const { prepare } = Sqlite.prototype
  Sqlite.prototype.prepare = function (this: Database, sql: string) {
    statements.add(sql)
    return prepare.call(this, sql)
  } as typeof prepare
  try {
    await work()
  } finally {
    Sqlite.prototype.prepare = prepare
  }
  return statements
}

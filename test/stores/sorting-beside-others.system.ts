/** Sorting while other programs change the plants with SQL. */
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { keyRanges, type SortIndex } from '../../service/store/sort-index.ts'
import { findEngine, openStore } from '../../src/stores/engines.ts'
import type { Store } from '../../src/stores/shared/store.ts'
import { each } from '../helpers/plants/lists.ts'
import { postgres, sqlite } from '../helpers/service/engine.ts'
import { complete, declare, HEIGHT, inOrder, NAME, walk } from './suites/reads/sort-suite.ts'

const PLANTS = Array.from({ length: 300 }, (_, at) => ({
  id: BigInt(at),
  name: `plant ${(at * 7) % 50}`,
  ...(at % 3 > 0 && { fields: `"height":${(at * 11) % 40}` }),
}))

/** Statements in SQL. Each is read before and after the service has computed the keys. */
const STATEMENTS: readonly string[] = [
  `INSERT INTO plants (id, name, fields) VALUES (-1, 'A', '"height":1000'), (301, 'plant 1', NULL), (302, 'ZZ', '"height":-5')`,
  `UPDATE plants SET name = 'Zz' WHERE id = 3`,
  `UPDATE plants SET fields = '"height":41' WHERE id IN (0, 1)`,
  'UPDATE plants SET fields = NULL WHERE id BETWEEN 10 AND 20',
  'UPDATE plants SET id = id + 1000 WHERE id BETWEEN 30 AND 40',
  // The first plants by name, and more than a page of them.
  `DELETE FROM plants WHERE name IN ('A', 'plant 0', 'plant 1', 'plant 10')`,
  'DELETE FROM plants WHERE id > 250',
  `INSERT INTO plants (id, name) SELECT id + 2000, 'Copy of ' || name FROM plants WHERE id < 200`,
  `BEGIN;
   UPDATE plants SET name = 'a' WHERE id = 60;
   DELETE FROM plants WHERE id = 60;
   INSERT INTO plants (id, name) VALUES (60, 'Again');
   COMMIT`,
  `BEGIN; UPDATE plants SET name = 'never'; ROLLBACK`,
]

const OF_SQLITE = [
  ...STATEMENTS,
  `INSERT OR REPLACE INTO plants (id, name, fields) VALUES (50, 'AAA', '"height":7'), (400, 'b', NULL)`,
  `INSERT INTO plants (id, name) VALUES (51, 'BBB') ON CONFLICT DO UPDATE SET name = excluded.name`,
  ...['FAIL', 'ABORT', 'ROLLBACK', 'IGNORE', 'REPLACE'].map(
    (how, at) => `UPDATE OR ${how} plants SET name = 'b ${how}' WHERE id IN (54, ${at})`,
  ),
  'UPDATE OR REPLACE plants SET id = 53 WHERE id = 52',
  'DELETE FROM plants',
]

const OF_POSTGRES = [
  ...STATEMENTS,
  `INSERT INTO plants (id, name) VALUES (51, 'BBB'), (401, 'c') ON CONFLICT (id) DO UPDATE SET name = excluded.name`,
  `COPY plants (id, name) FROM PROGRAM 'printf "500\\tCopied\\n501\\tcopied\\n"'`,
  `WITH gone AS (DELETE FROM plants WHERE id = 70 RETURNING *) INSERT INTO plants SELECT id + 5000, name FROM gone`,
  `BEGIN; SAVEPOINT one; UPDATE plants SET name = 'never' WHERE id = 71; ROLLBACK TO one; DELETE FROM plants WHERE id = 72; COMMIT`,
  `TRUNCATE plants`,
  `INSERT INTO plants (id, name) SELECT n, 'plant ' || n % 17 FROM generate_series(-100, 100) AS n`,
  `BEGIN; TRUNCATE plants; INSERT INTO plants (id, name) VALUES (7, 'last'), (8, 'first'); COMMIT`,
]

const ENGINES = {
  sqlite: {
    place: sqlite,
    statements: OF_SQLITE,
    run: async (database: string, text: string) => {
      const db = new Sqlite(database)
      db.exec(text)
      db.close()
    },
  },
  postgres: {
    place: await postgres(),
    statements: OF_POSTGRES,
    run: undefined,
  },
}

for (const [name, { place, statements, run }] of Object.entries(ENGINES)) {
  /** A store with plants and two complete indexes, and another program. */
  const start = async (t: Test) => {
    const { database, query } = await place(t)
    const store = await openStore({ database, lockTimeout: 60_000 })
    t.teardown(() => store.close())
    await store.apply(each('put', PLANTS), 'each')
    const indexes = [await declare(store, NAME, 1), await declare(store, HEIGHT, 2)]
    await complete(store)
    const write = (text: string) => run?.(database, text) ?? query(text)
    return { database, store, indexes, write }
  }

  t.test(`plants that another program changes are in their places (${name})`, async (t) => {
    const { database, store, indexes, write } = await start(t)
    for (const statement of statements) {
      await write(statement)
      await assertSorted(t, store, indexes, `before: ${statement}`)
      await complete(store)
      await assertSorted(t, store, indexes, `after: ${statement}`)
      t.strictSame(
        await findings(database),
        ['name: complete', 'height: complete'].sort(),
        statement,
      )
    }
    // All at once.
    await store.apply(each('put', PLANTS), 'each')
    for (const statement of statements) await write(statement)
    await assertSorted(t, store, indexes, 'together')
    await complete(store)
    await assertSorted(t, store, indexes, 'together, after')
  })

  t.test(`more changes than a read can sort make an index incomplete (${name})`, async (t) => {
    const { store, indexes, write } = await start(t)
    const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3000)`
    await write(
      `INSERT INTO plants (id, name) ${numbers} SELECT n + 10000, 'plant ' || n % 60 FROM numbers`,
    )
    for (const index of indexes) {
      const ranges = keyRanges(index.member, {}, false)
      t.equal(
        await store.listSorted({ member: index.member, isDescending: false, ranges, limit: 5 }),
        'behind',
      )
    }
    await complete(store)
    await assertSorted(t, store, indexes, 'complete')
  })
}

async function assertSorted(t: Test, store: Store, indexes: readonly SortIndex[], what: string) {
  const plants = (await Array.fromAsync(store.exportPlants())).flat()
  for (const index of indexes) {
    for (const isDescending of [false, true]) {
      const ranges = keyRanges(index.member, {}, isDescending)
      const ids = await walk(store, { member: index.member, isDescending, ranges, limit: 10 })
      t.strictSame(ids, inOrder(plants, index, isDescending), `${index.member.name} ${what}`)
    }
  }
}

async function findings(database: string): Promise<string[]> {
  const results = await Array.fromAsync(
    findEngine(database).check({ database, lockTimeout: 60_000 }),
  )
  return results.filter(({ subject }) => subject === 'index').map(({ message }) => message)
}

/** `import --dry-run` on databases of both engines. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { plantJson } from '../../service/store/plant-content.ts'
import type { NewPlant } from '../../service/store/plant-store.ts'
import { openStore } from '../../src/stores/engines.ts'
import {
  FIRST_VERSION,
  SCHEMA_VERSION as POSTGRES_VERSION,
} from '../../src/stores/postgres/postgres-schema.ts'
import { SCHEMA_VERSION } from '../../src/stores/sqlite/file/sqlite-schema.ts'
import { runHere } from '../helpers/processes/command-here.ts'
import { type Engine, postgres, sqlite } from '../helpers/service/engine.ts'
import { makeMirror } from '../helpers/service/mirrors.ts'

/** Three names of this length do not fit into one page of a read. */
const LONG = 700_000

const stored = (name: string): readonly NewPlant[] => [
  { id: -(2n ** 63n), name },
  { id: 1n, name: 'one' },
  { id: 2n, name: 'two', tag: '' },
  { id: 3n, name },
  { id: 2n ** 53n + 1n, name, tag: 'Tree' },
]

/** Repeats ids of the database and of its own, with the same content and with other content. */
const given = (name: string): readonly NewPlant[] => [
  { id: 2n ** 53n + 1n, name, tag: 'Tree' },
  { id: 2n ** 53n + 1n, name: 'other', tag: 'Tree' },
  { id: 3n, name: 'other' },
  { id: 1n, name: 'one', tag: '' },
  { id: 2n, name: 'two', tag: '' },
  { id: 4n, name: 'four' },
  { id: 4n, name: 'four' },
  { id: 4n, name: 'other' },
  { id: 4n, name: 'four' },
  { id: -(2n ** 63n), name },
]

/** Where a dry run does not read all of them. */
const SHORT = [{ id: 1n, name: 'one' }]

function writePlants(t: Test, plants: readonly NewPlant[]): string {
  const file = join(t.testdir(), 'plants.ndjson')
  writeFileSync(file, plants.map((plant) => `${plantJson(plant)}\n`).join(''))
  return file
}

/** A database with plants, and commands on it. */
async function filled(t: Test, engine: Engine, plants: readonly NewPlant[] = SHORT) {
  const { database, query } = await engine(t)
  const run = (...args: string[]) => runHere([...args, '--database', database])
  t.equal((await run('import', writePlants(t, plants), '--create')).code, 0)
  return { database, query, run }
}

/** The counts of a summary. */
function countsOf(summary: string): string[] {
  return summary.match(/^[a-z]+ \d+/gm) ?? []
}

const onPostgres = await postgres()
const engines: Readonly<Record<string, Engine>> = { SQLite: sqlite, PostgreSQL: onPostgres }

/** A database on the server, without plants. */
const migrated = (t: Test) => onPostgres(t, { inFile: false })

for (const [name, engine] of Object.entries(engines)) {
  t.test(`${name}: a dry run stores nothing, and counts what the import then does`, async (t) => {
    // How a read continues after a page is the same on both.
    const long = 'x'.repeat(name === 'SQLite' ? LONG : 10)
    const { database, query, run } = await filled(t, engine, stored(long))
    const log = database.startsWith('postgres') ? 'plant_change_log' : 'changes'
    /** The plants and the number of changes in the feed. */
    const contents = async () => [
      await query('SELECT * FROM plants ORDER BY id'),
      await query(`SELECT count(*) AS count FROM ${log}`),
    ]
    const file = writePlants(t, given(long))
    for (const [action, counts] of [
      ['keep', ['created 1', 'replayed 5', 'replaced 0', 'kept 4', 'refused 0']],
      ['replace', ['created 0', 'replayed 5', 'replaced 5', 'kept 0', 'refused 0']],
    ] as const) {
      const before = await contents()
      const planned = await run('import', file, '--on-conflict', action, '--dry-run')
      t.equal(planned.code, 0)
      t.same(countsOf(planned.stdout), counts)
      // Many times faster than tap's for long names.
      assert.deepEqual(await contents(), before)
      const done = await run('import', file, '--on-conflict', action)
      t.same(countsOf(done.stdout), counts)
      t.equal(planned.stderr, done.stderr)
    }
  })

  t.test(`${name}: a dry run creates no database`, async (t) => {
    const { database, query } = await engine(t)
    const args = ['import', writePlants(t, SHORT), '--dry-run', '--database', database]
    const missing = await runHere(args)
    t.match(missing, { code: 1, stdout: '', stderr: /; use --create to create it\n$/ })
    const { code, stdout } = await runHere([...args, '--create'])
    t.equal(code, 0)
    t.equal(countsOf(stdout)[0], 'created 1')
    if (name === 'SQLite') t.notOk(existsSync(database))
    else t.same(await query("SELECT FROM pg_tables WHERE schemaname = 'public'"), [])
  })
}

t.test('a conflict whose difference is not shown is described', async (t) => {
  const name = 'x'.repeat(200)
  const { run } = await filled(t, sqlite, [{ id: 1n, name }])
  const file = writePlants(t, [{ id: 1n, name: `${name}!` }])
  const { code, stdout } = await run('import', file, '--dry-run')
  t.equal(code, 1)
  t.match(stdout, /refused 1\n {2}first: .+; stored: .+ \(they differ after the part shown\)\n/)
})

t.test('a dry run works on a mirror that is in use', async (t) => {
  const { database } = await sqlite(t)
  const store = await openStore({ database, lockTimeout: 0, sameThread: true })
  t.teardown(() => store.close())
  await makeMirror(store)
  const args = ['import', writePlants(t, SHORT), '--dry-run', '--database', database]
  const { code, stdout } = await runHere(args)
  t.equal(code, 0)
  t.equal(countsOf(stdout)[0], 'created 1')
})

/** Asserts that a dry run on a database fails in one line. */
async function refuses(t: Test, database: string, reason: string): Promise<void> {
  const args = ['import', writePlants(t, SHORT), '--dry-run', '--database', database]
  const { code, stdout, stderr } = await runHere(args)
  t.match({ code, stdout }, { code: 1, stdout: '' })
  t.match(stderr, /^plant-store: .+\n$/)
  t.ok(stderr.includes(reason), stderr)
}

t.test('SQLite: a dry run uses no other database', async (t) => {
  const { database } = await filled(t, sqlite)
  const files = readdirSync(dirname(database))
  const db = new Sqlite(database)
  db.pragma(`user_version = ${SCHEMA_VERSION + 1}`)
  db.close()
  await refuses(t, database, `its schema has version ${SCHEMA_VERSION + 1}, but this program`)
  t.same(readdirSync(dirname(database)), files)
  writeFileSync(join(dirname(database), 'empty.db'), '')
  await refuses(t, join(dirname(database), 'empty.db'), 'it is empty; use --create to create it')
})

t.test('PostgreSQL: a dry run uses no other database, and upgrades none', async (t) => {
  const { database, query } = await migrated(t)
  await query(`DELETE FROM plant_store_schema WHERE version >= ${FIRST_VERSION}`)
  const last = FIRST_VERSION - 1
  await refuses(t, database, `its schema has version ${last}, but this program supports versions`)
  await query(`INSERT INTO plant_store_schema VALUES (${POSTGRES_VERSION + 1})`)
  await refuses(t, database, `its schema has version ${POSTGRES_VERSION + 1}, but this program`)
})

t.test('PostgreSQL: a dry run needs only the right to read', async (t) => {
  const { database, query } = await migrated(t)
  const role = `reader_of_${new URL(database).pathname.slice(1)}`
  await query(`CREATE ROLE ${role} LOGIN`)
  await query(`GRANT SELECT ON plants, plant_store_schema TO ${role}`)
  const url = database.replace(/\/\/\w+@/, `//${role}@`)
  await refuses(t, url, 'permission denied for table plant_store_records')
  await query(`GRANT SELECT ON plant_store_records TO ${role}`)
  const args = ['import', writePlants(t, SHORT), '--dry-run', '--database', url]
  const { code, stdout } = await runHere(args)
  t.equal(code, 0)
  t.equal(countsOf(stdout)[0], 'created 1')
})

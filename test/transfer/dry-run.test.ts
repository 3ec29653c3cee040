/** `import --dry-run` on databases of both engines. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { plantJson } from '../../service/plant-content.ts'
import type { NewPlant } from '../../service/plant-store.ts'
import { openStore } from '../../src/stores/engines.ts'
import { runHere } from '../helpers/command-here.ts'
import { type Engine, type Place, postgres, sqlite } from '../helpers/engine.ts'
import { makeMirror } from '../helpers/mirrors.ts'

/** Three of these do not fit into one page of a read. */
const LONG = 'x'.repeat(700_000)

const stored: readonly NewPlant[] = [
  { id: -(2n ** 63n), name: LONG },
  { id: 1n, name: 'one' },
  { id: 2n, name: 'two', tag: '' },
  { id: 3n, name: LONG },
  { id: 2n ** 53n + 1n, name: LONG, tag: 'Tree' },
]

/** Repeats ids of the database and of its own, with the same content and with other content. */
const given: readonly NewPlant[] = [
  { id: 2n ** 53n + 1n, name: LONG, tag: 'Tree' },
  { id: 2n ** 53n + 1n, name: `${LONG}!`, tag: 'Tree' },
  { id: 3n, name: `${LONG}!` },
  { id: 1n, name: 'one', tag: '' },
  { id: 2n, name: 'two', tag: '' },
  { id: 4n, name: 'four' },
  { id: 4n, name: 'four' },
  { id: 4n, name: 'other' },
  { id: 4n, name: 'four' },
  { id: -(2n ** 63n), name: LONG },
]

function writePlants(t: Test, plants: readonly NewPlant[]): string {
  const file = join(t.testdir(), 'plants.ndjson')
  writeFileSync(file, plants.map((plant) => `${plantJson(plant)}\n`).join(''))
  return file
}

/** A database with the stored plants, and commands on it. */
async function filled(t: Test, engine: Engine) {
  const place = await engine(t)
  const { database } = place
  const run = (...args: string[]) => runHere([...args, '--database', database])
  t.equal((await run('import', writePlants(t, stored), '--create')).code, 0)
  return { ...place, run, contents: () => contentsOf(place) }
}

/** The plants and the number of changes in the feed. */
async function contentsOf({ query, database }: Place) {
  const plants = await query('SELECT * FROM plants ORDER BY id')
  const table = database.startsWith('postgres') ? 'plant_change_log' : 'changes'
  return { plants, changes: await query(`SELECT count(*) AS count FROM ${table}`) }
}

/** The counts of a summary. */
function countsOf(summary: string): string[] {
  return summary.match(/^[a-z]+ \d+/gm) ?? []
}

const KEEP = ['--on-conflict', 'keep']

const engines: Readonly<Record<string, Engine>> = { SQLite: sqlite, PostgreSQL: await postgres() }

for (const [name, engine] of Object.entries(engines)) {
  t.test(`${name}: a dry run stores nothing, and counts what the import then does`, async (t) => {
    const { run, contents } = await filled(t, engine)
    const file = writePlants(t, given)
    for (const [action, counts] of [
      ['keep', ['created 1', 'replayed 5', 'replaced 0', 'kept 4', 'refused 0']],
      ['replace', ['created 0', 'replayed 5', 'replaced 5', 'kept 0', 'refused 0']],
    ] as const) {
      const before = await contents()
      const planned = await run('import', file, '--on-conflict', action, '--dry-run')
      t.equal(planned.code, 0)
      t.same(countsOf(planned.stdout), counts)
      t.strictSame(await contents(), before)
      const done = await run('import', file, '--on-conflict', action)
      t.same(countsOf(done.stdout), counts)
      t.equal(planned.stderr, done.stderr)
    }
  })

  t.test(`${name}: a dry run creates no database`, async (t) => {
    const { database, query } = await engine(t)
    const args = ['import', writePlants(t, stored), '--dry-run', '--database', database]
    const missing = await runHere(args)
    t.match(missing, { code: 1, stdout: '', stderr: /; use --create to create it\n$/ })
    const { code, stdout } = await runHere([...args, '--create'])
    t.equal(code, 0)
    t.equal(countsOf(stdout)[0], `created ${stored.length}`)
    if (name === 'SQLite') t.notOk(existsSync(database))
    else t.same(await query("SELECT FROM pg_tables WHERE schemaname = 'public'"), [])
  })
}

t.test('a dry run reads past the first conflict', async (t) => {
  const { database, run, contents } = await filled(t, sqlite)
  const before = await contents()
  const { code, stdout } = await run('import', writePlants(t, given), '--dry-run')
  t.equal(code, 1)
  t.equal(
    stdout.replaceAll(/x{90,}/g, 'x…'),
    `created 1
  first: line 6: {"id":4,"name":"four"}
replayed 5 (already stored with the same content)
  first: line 1: {"id":9007199254740993,"name":"x……","tag":"Tree"}
replaced 0
kept 0
refused 4
  first: line 2: repeats id 9007199254740993 of line 1 with different content: {"id":9007199254740993,"name":"x……","tag":"Tree"}; stored: {"id":9007199254740993,"name":"x……","tag":"Tree"} (they differ after the part shown)
an import would stop at line 2; use --on-conflict keep or --on-conflict replace to import the rest
dry run: nothing was stored
database ${database}
`,
  )
  t.strictSame(await contents(), before)
})

t.test('a dry run works while changes are frozen', async (t) => {
  const { run } = await filled(t, sqlite)
  t.equal((await run('freeze')).code, 0)
  const { code, stdout } = await run('import', writePlants(t, given), ...KEEP, '--dry-run')
  t.equal(code, 0)
  t.equal(countsOf(stdout)[0], 'created 1')
})

t.test('a dry run works on a mirror that is in use', async (t) => {
  const { database } = await sqlite(t)
  const store = await openStore({ database, lockTimeout: 0, sameThread: true })
  t.teardown(() => store.close())
  await makeMirror(store)
  const args = ['import', writePlants(t, stored), '--dry-run', '--database', database]
  const { code, stdout } = await runHere(args)
  t.equal(code, 0)
  t.equal(countsOf(stdout)[0], `created ${stored.length}`)
})

/** Asserts that a dry run on a database fails in one line. */
async function refuses(t: Test, database: string, reason: string): Promise<void> {
  const args = ['import', writePlants(t, stored), '--dry-run', '--database', database]
  const { code, stdout, stderr } = await runHere(args)
  t.match({ code, stdout }, { code: 1, stdout: '' })
  t.match(stderr, /^plant-store: .+\n$/)
  t.ok(stderr.includes(reason), stderr)
}

t.test('SQLite: a dry run uses no other database, and upgrades none', async (t) => {
  const { database } = await filled(t, sqlite)
  const change = (sql: string) => {
    const db = new Sqlite(database)
    db.exec(sql)
    db.close()
  }
  change('PRAGMA user_version = 4')
  const files = readdirSync(dirname(database))
  await refuses(t, database, 'its schema has version 4: start the service, which upgrades it to 6')
  change('PRAGMA user_version = 7')
  await refuses(t, database, 'its schema has version 7, but this program supports')
  change('PRAGMA user_version = 6; ALTER TABLE plants ADD COLUMN height REAL')
  await refuses(t, database, 'its schema differs from version 6: table plants differs')
  t.same(readdirSync(dirname(database)), files)
  change('PRAGMA application_id = 1')
  await refuses(t, database, `cannot use the database ${database}: it belongs to another program`)
  writeFileSync(join(dirname(database), 'text.db'), 'no database'.repeat(100))
  await refuses(t, join(dirname(database), 'text.db'), 'it is not an SQLite database')
  writeFileSync(join(dirname(database), 'empty.db'), '')
  await refuses(t, join(dirname(database), 'empty.db'), 'it is empty; use --create to create it')
})

t.test('PostgreSQL: a dry run uses no other database, and upgrades none', async (t) => {
  const { database, query } = await filled(t, await postgres())
  await query('DELETE FROM plant_store_schema WHERE version = 12')
  await refuses(
    t,
    database,
    'its schema has version 11: start the service, which upgrades it to 12',
  )
  await query('INSERT INTO plant_store_schema VALUES (13)')
  await refuses(t, database, 'its schema has version 13, but this program supports')
})

t.test('PostgreSQL: a dry run needs only the right to read', async (t) => {
  const { database, query } = await filled(t, await postgres())
  const role = `reader_of_${new URL(database).pathname.slice(1)}`
  await query(`CREATE ROLE ${role} LOGIN`)
  await query(`GRANT SELECT ON plants, plant_store_schema, plant_store_settings TO ${role}`)
  const url = database.replace(/\/\/\w+@/, `//${role}@`)
  const args = ['import', writePlants(t, given), ...KEEP, '--dry-run']
  const { code, stdout } = await runHere([...args, '--database', url])
  t.equal(code, 0)
  t.equal(countsOf(stdout)[0], 'created 1')
})

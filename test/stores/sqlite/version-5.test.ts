/** Databases of schema version 5, which had no own fields and no settings. */

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { restrictedError } from '../../../src/config/restricted-error.ts'
import { NEW_FEED } from '../../../src/stores/shared/engine.ts'
import { backUpDatabase } from '../../../src/stores/sqlite/backup/database-backup.ts'
import { restoreDatabase } from '../../../src/stores/sqlite/backup/database-restore.ts'
import { checkDatabase } from '../../../src/stores/sqlite/check/sqlite-check.ts'
import { openDatabase } from '../../../src/stores/sqlite/file/database.ts'
import { readSchemaVersion, SCHEMA_VERSION } from '../../../src/stores/sqlite/file/sqlite-schema.ts'
import { openReader } from '../../../src/stores/sqlite/reads/plant-reader.ts'
import { SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import { withoutTap } from '../../helpers/command.ts'
import { changesAfter, contentOf, latest } from '../changes.ts'
import { exported, MIN } from '../plants.ts'
import { sql, thrownBy } from './files.ts'
import { TURN_OFF } from './turned-off.ts'

const VERSION_5 = readFileSync(new URL('./version-5.sql', import.meta.url), 'utf8')

const PLANTS = [
  { id: MIN, name: '', tag: '' },
  { id: 1n, name: 'Abies', tag: 'Tree' },
  { id: 2n, name: 'Bellis', tag: 'Flower' },
]

/** The changes after the cursor of the webhook. */
const UNDELIVERED = [
  ['created', 3n, { name: 'Cedrus', tag: 'Tree' }],
  ['changed', 2n, { name: 'Bellis', tag: 'Flower' }],
  ['removed', 3n],
]

const lockTimeout = 5000

function makeDatabase(t: Test, statements = ''): string {
  const file = join(t.testdir(), 'plants.db')
  sql(VERSION_5 + statements)(file)
  return file
}

function open(t: Test, file: string, onProblem?: (problem: string) => void): SqliteStore {
  const store = new SqliteStore({ file, lockTimeout, ...(onProblem && { onProblem }) })
  t.teardown(() => store.close())
  return store
}

function faultsOf(file: string): string[] {
  return [...checkDatabase({ file, lockTimeout })]
    .filter(({ status }) => status === 'fault')
    .map(({ subject, message }) => `${subject}: ${message}`)
}

function versionOf(file: string): number {
  const db = new Sqlite(file)
  try {
    return readSchemaVersion(db)
  } finally {
    db.close()
  }
}

/** Verifies that a database has the content of version 5, and continues with own fields. */
async function continues(t: Test, file: string): Promise<void> {
  const store = open(t, file)
  t.equal(versionOf(file), SCHEMA_VERSION)
  t.same(faultsOf(file), [])
  t.strictSame(await exported(store), PLANTS)
  t.match(await store.listTokens(), [{ name: 'ci', scopes: ['read', 'write'] }])
  const [webhook] = await store.webhooks.list()
  const cursor = webhook?.progress.cursor
  const undelivered = await changesAfter(store, cursor)
  t.strictSame(undelivered.map(contentOf), UNDELIVERED)
  t.strictSame(
    undelivered.map(({ endsTransaction }) => endsTransaction),
    [undefined, undefined, true],
    'where the other transactions have ended is unknown',
  )
  t.equal(await store.readRestriction(), 'frozen')
  await t.rejects(store.remove(1n), restrictedError('frozen'))

  t.equal(await store.restrict({ expected: 'frozen', next: undefined }), 'done')
  t.equal(await store.create({ id: 1n, name: 'Abies', tag: 'Tree' }), 'replayed')
  await store.update(1n, { fields: '"height":1' })
  await store.remove(2n)
  t.strictSame((await changesAfter(store, cursor)).map(contentOf), [
    ...UNDELIVERED,
    ['changed', 1n, { name: 'Abies', tag: 'Tree', fields: '"height":1' }],
    ['removed', 2n],
  ])
  t.same(faultsOf(file), [])
}

t.test('an upgraded database keeps its content, and its cursors stay valid', (t) =>
  continues(t, makeDatabase(t)),
)

t.test('an upgrade that is killed leaves a database of the version before', async (t) => {
  const file = makeDatabase(t, 'PRAGMA journal_mode = WAL;')
  const script = fileURLToPath(new URL('./killed-upgrade.ts', import.meta.url))
  const [command, line] = withoutTap([process.execPath, script, file])
  t.equal(spawnSync(command, line).signal, 'SIGKILL')
  t.equal(versionOf(file), 5)
  await continues(t, file)
})

t.test('a database whose feed was off gets a new one', async (t) => {
  const file = makeDatabase(t, `DELETE FROM plant_webhooks; ${TURN_OFF}`)
  const problems: string[] = []
  const store = open(t, file, (problem) => problems.push(problem))
  t.same(problems, [NEW_FEED])
  t.same(faultsOf(file), [])
  const start = await latest(store)
  await store.restrict({ expected: 'frozen', next: undefined })
  await store.update(1n, { fields: '"height":1' })
  t.strictSame((await changesAfter(store, start)).map(contentOf), [
    ['changed', 1n, { name: 'Abies', tag: 'Tree', fields: '"height":1' }],
  ])
})

t.test('commands that do not upgrade a database check it, and refuse to read it', async (t) => {
  const file = makeDatabase(t)
  t.same(faultsOf(file), [])
  sql("UPDATE changes SET tag = 'other' WHERE position = 177")(file)
  t.same(faultsOf(file), ['changes: the last changes in the feed differ from the plants 2'])
  const error = thrownBy(() => openReader({ file, lockTimeout }))
  t.match(error?.message, `version 5: start the service, which upgrades it to ${SCHEMA_VERSION}`)
  t.equal(versionOf(file), 5)
})

t.test('a backup is made, restored and then upgraded', async (t) => {
  const file = makeDatabase(t)
  const [backup, restored] = [`${file}.backup`, `${file}.restored`]
  const copying = { lockTimeout, onProgress() {}, signal: new AbortController().signal }
  await backUpDatabase({ ...copying, database: file, file: backup })
  t.equal(versionOf(backup), 5)
  t.same(faultsOf(backup), [])
  await restoreDatabase({ ...copying, backup, database: restored })
  t.equal(versionOf(restored), 5)
  await continues(t, restored)
})

t.test('a process that has the database open continues during an upgrade', async (t) => {
  const file = makeDatabase(t, 'DELETE FROM plant_restriction; DROP TRIGGER refuse_insert;')
  sql('DROP TRIGGER refuse_update; DROP TRIGGER refuse_delete')(file)
  const before = new Sqlite(file)
  t.teardown(() => before.close())
  const insert = before.prepare('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?)')
  const update = before.prepare('UPDATE plants SET name = ?, tag = ? WHERE id = ?')
  insert.run(10, 'before', null)
  openDatabase({ file, lockTimeout }).close()
  const store = open(t, file)
  await store.update(1n, { fields: '"height":1' })
  const start = await latest(store)
  insert.run(11, 'after', null)
  update.run('Abies alba', 'Tree', 1)
  t.strictSame((await changesAfter(store, start)).map(contentOf), [
    ['created', 11n, { name: 'after' }],
    ['changed', 1n, { name: 'Abies alba', tag: 'Tree', fields: '"height":1' }],
  ])
})

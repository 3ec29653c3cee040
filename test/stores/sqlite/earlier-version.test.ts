import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t from 'tap'
import { SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import { fixture, useEarlierVersion } from '../earlier-version.ts'

t.test('a database of an earlier version works', async (t) => {
  const file = join(t.testdir(), 'plants.db')
  copyFileSync(fixture('plants.sqlite'), file)
  await useEarlierVersion(t, file, 'sqlite', (url) => {
    const db = new Sqlite(file)
    db.prepare('UPDATE plant_webhooks SET url = ?').run(url)
    db.close()
  })
})

t.test(
  'an earlier version that is still running cannot change a restricted database',
  async (t) => {
    const file = join(t.testdir(), 'plants.db')
    copyFileSync(fixture('plants.sqlite'), file)
    const earlier = new Sqlite(file)
    t.teardown(() => earlier.close())
    const changes = [
      "INSERT INTO plants (id, name) VALUES (?, 'x') ON CONFLICT DO NOTHING",
      'UPDATE plants SET name = ?',
      'DELETE FROM plants WHERE id <> ?',
    ].map((statement) => earlier.prepare(statement))
    const store = new SqliteStore({ file, lockTimeout: 1000, sameThread: true })
    t.teardown(() => store.close())
    await store.restrict({ expected: undefined, next: 'frozen' })
    for (const change of changes)
      t.throws(() => change.run(77n), { code: 'SQLITE_CONSTRAINT_TRIGGER' })
    await store.restrict({ expected: 'frozen', next: undefined })
    for (const change of changes) t.ok(change.run(77n).changes > 0)
  },
)

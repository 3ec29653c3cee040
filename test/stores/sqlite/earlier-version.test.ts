import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t from 'tap'
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

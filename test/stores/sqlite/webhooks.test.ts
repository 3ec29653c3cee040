import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import t from 'tap'
import { SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import { testLeases } from '../suites/webhook-suite.ts'

t.test('a lease expires', async (t) => {
  const file = join(t.testdir(), 'plants.db')
  const store = new SqliteStore({ file, lockTimeout: 60_000, sameThread: true })
  const db = new Sqlite(file)
  t.teardown(async () => {
    db.close()
    await store.close()
  })
  const shift = db.prepare(
    `UPDATE plant_store_records SET value = json_set(value, '$.until', value ->> 'until' + ?)
     WHERE kind = 'webhook-lease'`,
  )
  await testLeases(t, store, async (milliseconds) => {
    shift.run(milliseconds)
    // Reads in one turn of the event loop share a snapshot.
    await setImmediate()
  })
})

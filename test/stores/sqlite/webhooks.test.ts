import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import t from 'tap'
import { WEBHOOK_LEASE_MS } from '../../../service/webhook-store.ts'
import { SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import { testLeases } from '../webhook-suite.ts'

t.test('a lease expires, and excludes earlier versions', async (t) => {
  const file = join(t.testdir(), 'plants.db')
  const store = new SqliteStore({ file, lockTimeout: 5000 })
  const db = new Sqlite(file)
  t.teardown(async () => {
    db.close()
    await store.close()
  })
  const change = async (sql: string, ...values: unknown[]) => {
    db.prepare(sql).run(...values)
    // Reads in one turn of the event loop share a snapshot.
    await setImmediate()
  }
  await testLeases(t, store, {
    shift: (milliseconds) =>
      change('UPDATE plant_webhooks SET owner_until = owner_until + ?', milliseconds),
    leaseOne: (name, owner) =>
      change(
        'UPDATE plant_webhooks SET owner = ?, owner_until = ? WHERE name = ?',
        ...[owner, Date.now() + WEBHOOK_LEASE_MS, name],
      ),
  })
})

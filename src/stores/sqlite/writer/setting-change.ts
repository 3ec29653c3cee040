import type { Database } from 'better-sqlite3'
import type { SettingStore } from '../../../../service/setting-store.ts'

/** Prepares SettingStore.replaceSetting. The caller runs it in a transaction. */
export function prepareSettingChange(db: Database) {
  const insert = db.prepare(
    'INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING',
  )
  const update = db.prepare('UPDATE settings SET value = ? WHERE name = ? AND value IS ?')

  return (...[name, expected, next]: Parameters<SettingStore['replaceSetting']>): boolean => {
    const { changes } =
      expected === undefined ? insert.run(name, next) : update.run(next, name, expected)
    return changes === 1
  }
}

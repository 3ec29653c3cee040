import type { Database } from 'better-sqlite3'
import type { ApplyMode, RecordChange } from '../../../../service/store/record-store.ts'

/** Prepares RecordStore.changeRecords. The caller runs it in a transaction. */
export function prepareRecordChanges(db: Database) {
  const count = db
    .prepare<string, number>('SELECT count(*) FROM plant_store_records WHERE kind = ?')
    .safeIntegers(false)
    .pluck()
  const add = db.prepare(
    `INSERT INTO plant_store_records (value, kind, key, alias) VALUES (?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
  )
  const replace = db.prepare(
    'UPDATE plant_store_records SET value = ? WHERE kind = ? AND key = ? AND value = ?',
  )
  const remove = db.prepare(
    'DELETE FROM plant_store_records WHERE kind = ? AND key = ? AND value = ?',
  )

  const change = ({ kind, key, expected, next, alias, max }: RecordChange): boolean => {
    if (next === undefined) return remove.run(kind, key, expected).changes === 1
    if (expected !== undefined) return replace.run(next, kind, key, expected).changes === 1
    if (max !== undefined && Number(count.get(kind)) >= max) return false
    return add.run(next, kind, key, alias ?? null).changes === 1
  }
  // Within a transaction, this is a savepoint.
  const changeAll = db.transaction((changes: readonly RecordChange[]) => {
    for (const each of changes) if (!change(each)) throw new NotChanged()
  })
  return {
    change,
    changeSeveral(changes: readonly RecordChange[], mode: ApplyMode): boolean[] {
      if (mode === 'each') return changes.map(change)
      try {
        changeAll(changes)
        return changes.map(() => true)
      } catch (error) {
        if (error instanceof NotChanged) return changes.map(() => false)
        throw error
      }
    },
  }
}

/** Thrown to roll back. */
class NotChanged extends Error {}

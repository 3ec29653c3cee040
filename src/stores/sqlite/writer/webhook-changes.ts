import type { Database } from 'better-sqlite3'
import {
  type NewWebhook,
  type SavedProgress,
  WEBHOOK_LEASE_MS,
  WEBHOOKS_MAX,
} from '../../../../service/webhook-store.ts'
import {
  NEW_COLUMNS,
  newWebhookValues,
  PROGRESS_COLUMNS,
  progressColumns,
} from '../../shared/webhook-row.ts'

/** Finds a process that has the lease. */
export const LEADER =
  'SELECT 1 FROM plant_webhooks WHERE owner != ? AND owner_until > ? AND owner_until <= ? LIMIT 1'
export const UNLEASED = 'SELECT name FROM plant_webhooks WHERE paused_at IS NULL AND owner IS NOT ?'
export const LEASE = 'UPDATE plant_webhooks SET owner = ?, owner_until = ? WHERE paused_at IS NULL'

/** Prepares the changes that WebhookStore describes. The caller runs them in a transaction. */
export function prepareWebhookChanges(db: Database) {
  const count = db.prepare<[], bigint>('SELECT count(*) FROM plant_webhooks').pluck()
  const insert = db.prepare(
    `INSERT INTO plant_webhooks (${NEW_COLUMNS.join()})
     VALUES (${NEW_COLUMNS.map(() => '?').join()}) ON CONFLICT DO NOTHING`,
  )
  const remove = db.prepare('DELETE FROM plant_webhooks WHERE name = ?')
  const removeOwned = db.prepare('DELETE FROM plant_webhooks WHERE name = ? AND owner IS ?')
  const rotate = db.prepare(
    `UPDATE plant_webhooks SET previous_secret = secret, secret = ?, previous_until = ? WHERE name = ?`,
  )
  const resume = db.prepare(
    `UPDATE plant_webhooks
     SET cursor = CASE WHEN ? THEN NULL ELSE cursor END, attempts = 0, failing_since = NULL,
       next_attempt_at = NULL, paused_at = NULL, owner = NULL, owner_until = NULL
     WHERE name = ?`,
  )
  const leader = db.prepare(LEADER)
  const unleased = db.prepare<[string], string>(UNLEASED).pluck()
  const lease = db.prepare(LEASE)
  const release = db.prepare(
    'UPDATE plant_webhooks SET owner = NULL, owner_until = NULL WHERE owner IS ?',
  )
  const save = db.prepare(
    `UPDATE plant_webhooks
     SET ${PROGRESS_COLUMNS.map((column) => `${column} = ?`).join(', ')},
       owner = iif(?, NULL, owner)
     WHERE name = ? AND owner IS ?`,
  )

  return {
    add(webhook: NewWebhook): 'added' | 'taken' | 'full' {
      if (Number(count.get()) >= WEBHOOKS_MAX) return 'full'
      return insert.run(...newWebhookValues(webhook)).changes === 1 ? 'added' : 'taken'
    },
    remove(name: string, owner?: string): boolean {
      const { changes } = owner === undefined ? remove.run(name) : removeOwned.run(name, owner)
      return changes === 1
    },
    rotateSecret(name: string, secret: string, previousUntil: Date): boolean {
      return rotate.run(secret, previousUntil.getTime(), name).changes === 1
    },
    resume(name: string, fromOldest: boolean): boolean {
      return resume.run(Number(fromOldest), name).changes === 1
    },
    lease(owner: string): string[] | undefined {
      const now = Date.now()
      const until = now + WEBHOOK_LEASE_MS
      if (leader.get(owner, now, until) !== undefined) return undefined
      const taken = unleased.all(owner)
      lease.run(owner, until)
      return taken
    },
    release(owner: string): undefined {
      release.run(owner)
    },
    saveProgress(owner: string, saved: readonly SavedProgress[]): string[] {
      const owned = saved.filter(({ name, progress }) => {
        const columns = progressColumns(progress)
        const values = PROGRESS_COLUMNS.map((column) => columns[column])
        const isPaused = Number(progress.pausedAt !== undefined)
        return save.run(...values, isPaused, name, owner).changes === 1
      })
      return owned.map(({ name }) => name)
    },
  }
}

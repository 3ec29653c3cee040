import type { Database } from 'better-sqlite3'
import {
  type Leases,
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
} from '../../webhook-row.ts'

export const RENEW = `
  UPDATE plant_webhooks SET owner_until = ? WHERE paused_at IS NULL AND owner IS ? RETURNING name`
export const TAKE = `
  UPDATE plant_webhooks SET owner = ?, owner_until = ?
  WHERE paused_at IS NULL AND (owner IS NULL OR owner_until <= ? OR owner_until > ?)
  RETURNING name`

/** The changes that WebhookStore describes. */
export interface WebhookChanges {
  addWebhook(webhook: NewWebhook): 'added' | 'taken' | 'full'
  removeWebhook(name: string, owner?: string): boolean
  rotateWebhookSecret(name: string, secret: string, previousUntil: Date): boolean
  resumeWebhook(name: string, fromOldest: boolean): boolean
  leaseWebhooks(owner: string): Leases
  releaseWebhooks(owner: string): void
  saveWebhookProgress(owner: string, progress: readonly SavedProgress[]): string[]
}

/** Prepares the changes to webhooks. The caller runs them in a transaction. */
export function prepareWebhookChanges(db: Database): WebhookChanges {
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
  const renew = db.prepare<[number, string], string>(RENEW).pluck()
  const take = db.prepare<[string, number, number, number], string>(TAKE).pluck()
  const release = db.prepare(
    'UPDATE plant_webhooks SET owner = NULL, owner_until = NULL WHERE owner IS ?',
  )
  const save = db.prepare(
    `UPDATE plant_webhooks SET ${PROGRESS_COLUMNS.map((column) => `${column} = ?`).join(', ')}
     WHERE name = ? AND owner IS ?`,
  )
  const releaseOne = db.prepare(
    'UPDATE plant_webhooks SET owner = NULL, owner_until = NULL WHERE name = ?',
  )

  return {
    addWebhook(webhook) {
      if (Number(count.get()) >= WEBHOOKS_MAX) return 'full'
      return insert.run(...newWebhookValues(webhook)).changes === 1 ? 'added' : 'taken'
    },
    removeWebhook(name, owner) {
      const { changes } = owner === undefined ? remove.run(name) : removeOwned.run(name, owner)
      return changes === 1
    },
    rotateWebhookSecret(name, secret, previousUntil) {
      return rotate.run(secret, previousUntil.getTime(), name).changes === 1
    },
    resumeWebhook(name, fromOldest) {
      return resume.run(Number(fromOldest), name).changes === 1
    },
    leaseWebhooks(owner) {
      const now = Date.now()
      const until = now + WEBHOOK_LEASE_MS
      // In this order, because a lease that was just taken would be renewed.
      const renewed = renew.all(until, owner)
      return { renewed, taken: take.all(owner, until, now, until) }
    },
    releaseWebhooks(owner) {
      release.run(owner)
    },
    saveWebhookProgress(owner, saved) {
      const owned = saved.filter(({ name, progress }) => {
        const columns = progressColumns(progress)
        const values = PROGRESS_COLUMNS.map((column) => columns[column])
        return save.run(...values, name, owner).changes === 1
      })
      for (const { name, progress } of owned) {
        if (progress.pausedAt !== undefined) releaseOne.run(name)
      }
      return owned.map(({ name }) => name)
    },
  }
}

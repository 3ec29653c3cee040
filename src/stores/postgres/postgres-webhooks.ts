import {
  type NewWebhook,
  type SavedProgress,
  WEBHOOK_LEASE_MS,
  WEBHOOKS_MAX,
  type Webhook,
  type WebhookStore,
} from '../../../service/webhook-store.ts'
import {
  NEW_COLUMNS,
  newWebhookValues,
  PROGRESS_COLUMNS,
  progressColumns,
  toWebhook,
  type WebhookRow,
} from '../shared/webhook-row.ts'
import type { Connections } from './connection/connections.ts'
import { LOCK_STORE } from './connection/locks.ts'
import { NOW_MS } from './feed/change-tables.ts'

const COLUMNS = new Set([...NEW_COLUMNS, ...PROGRESS_COLUMNS, 'owner', 'owner_until'])
const LIST = `SELECT ${[...COLUMNS].join(', ')}, ${NOW_MS} AS now FROM plant_webhooks`

const COUNT = 'SELECT count(*) AS count FROM plant_webhooks'
const INSERT = `
  INSERT INTO plant_webhooks (${NEW_COLUMNS.join(', ')})
  VALUES (${NEW_COLUMNS.map((_, index) => `$${index + 1}`).join(', ')})
  ON CONFLICT (name) DO NOTHING RETURNING name`
const ROTATE = `
  UPDATE plant_webhooks SET previous_secret = secret, secret = $2, previous_until = $3
  WHERE name = $1 RETURNING name`
const RESUME = `
  UPDATE plant_webhooks
  SET cursor = CASE WHEN $2 THEN NULL ELSE cursor END, attempts = 0, failing_since = NULL,
    next_attempt_at = NULL, paused_at = NULL, owner = NULL, owner_until = NULL
  WHERE name = $1 RETURNING name`

/**
 * Locks the rows in the order of their names, so that concurrent calls cannot deadlock, and the later one sees that the
 * earlier one has taken them. The result has a row without a name if another process has the lease.
 */
const LEASE = `
  WITH webhook AS MATERIALIZED (
    SELECT name, owner, paused_at, owner_until > ${NOW_MS} AND owner_until <= ${NOW_MS} + ${WEBHOOK_LEASE_MS} AS is_current
    FROM plant_webhooks ORDER BY name FOR UPDATE
  ), led AS (SELECT FROM webhook WHERE owner <> $1 AND is_current LIMIT 1
  ), leased AS (
    UPDATE plant_webhooks SET owner = $1, owner_until = ${NOW_MS} + ${WEBHOOK_LEASE_MS}
    FROM webhook
    WHERE plant_webhooks.name = webhook.name AND webhook.paused_at IS NULL AND NOT EXISTS (TABLE led)
    RETURNING webhook.name, webhook.owner IS DISTINCT FROM $1 AS is_new)
  SELECT name FROM leased WHERE is_new UNION ALL SELECT NULL FROM led`
const RELEASE = `
  UPDATE plant_webhooks SET owner = NULL, owner_until = NULL
  WHERE name IN (SELECT name FROM plant_webhooks WHERE owner = $1 ORDER BY name FOR UPDATE)`

/** The second parameter is JSON: an array with an object for each webhook, whose keys are columns. */
const SAVE = `
  UPDATE plant_webhooks AS webhook
  SET ${PROGRESS_COLUMNS.map((column) => `${column} = saved.${column}`).join(', ')},
    owner = CASE WHEN saved.paused_at IS NULL THEN webhook.owner END
  FROM json_populate_recordset(NULL::plant_webhooks, $2) AS saved
  WHERE webhook.name = saved.name AND webhook.name IN (
    SELECT name FROM plant_webhooks
    WHERE owner = $1 AND name = ANY($3) ORDER BY name FOR UPDATE)
  RETURNING webhook.name`

/** The webhooks in the database. */
export class PostgresWebhooks implements WebhookStore {
  readonly #connections: Connections

  constructor(connections: Connections) {
    this.#connections = connections
  }

  async list(): Promise<Webhook[]> {
    const rows = await this.#connections.query<WebhookRow & { now: bigint }>(LIST)
    // Sorted here, because the server's order depends on its locale.
    return rows
      .map((row) => toWebhook(row, Number(row.now)))
      .sort((one, other) => Buffer.compare(Buffer.from(one.name), Buffer.from(other.name)))
  }

  add(webhook: NewWebhook): Promise<'added' | 'taken' | 'full'> {
    return this.#connections.unverifiedTransaction(async (run) => {
      // Only one transaction at a time can add a webhook, so that there are at most WEBHOOKS_MAX.
      await run(LOCK_STORE)
      const [row] = await run<{ count: bigint }>(COUNT)
      if (Number(row?.count) >= WEBHOOKS_MAX) return 'full'
      const added = await run(INSERT, newWebhookValues(webhook))
      return added.length > 0 ? 'added' : 'taken'
    })
  }

  remove(name: string, owner?: string): Promise<boolean> {
    return owner === undefined
      ? this.#change('DELETE FROM plant_webhooks WHERE name = $1 RETURNING name', [name])
      : this.#change('DELETE FROM plant_webhooks WHERE name = $1 AND owner = $2 RETURNING name', [
          name,
          owner,
        ])
  }

  rotateSecret(name: string, secret: string, previousUntil: Date): Promise<boolean> {
    return this.#change(ROTATE, [name, secret, previousUntil.getTime()])
  }

  resume(name: string, fromOldest: boolean): Promise<boolean> {
    return this.#change(RESUME, [name, fromOldest])
  }

  async lease(owner: string): Promise<string[] | undefined> {
    const rows = await this.#connections.query<{ name: string | null }>(LEASE, [owner])
    const taken = rows.flatMap(({ name }) => name ?? [])
    return taken.length < rows.length ? undefined : taken
  }

  async release(owner: string): Promise<void> {
    await this.#connections.query(RELEASE, [owner])
  }

  async saveProgress(owner: string, progress: readonly SavedProgress[]): Promise<string[]> {
    const rows = progress.map((each) => ({ name: each.name, ...progressColumns(each.progress) }))
    const names = progress.map(({ name }) => name)
    const values = [owner, JSON.stringify(rows), names]
    const saved = await this.#connections.query<{ name: string }>(SAVE, values)
    return saved.map(({ name }) => name)
  }

  async #change(statement: string, values: readonly unknown[]): Promise<boolean> {
    return (await this.#connections.query(statement, values)).length > 0
  }
}

import { randomUUID } from 'node:crypto'
import { readLatestCursor } from '../../../service/store/change-feed.ts'
import {
  WEBHOOKS_MAX,
  type Webhook,
  type WebhookEvent,
  WebhookStore,
} from '../../../service/webhook-store.ts'
import { describeDatabase } from '../../stores/engines.ts'
import type { Store } from '../../stores/shared/store.ts'
import { CommandError, messageOf } from '../../system/user-errors.ts'
import { parseEndpoint } from '../../webhooks/endpoint.ts'
import { newSecret, SAMPLE, toMessage } from '../../webhooks/message.ts'
import { Sender } from '../../webhooks/sender.ts'
import { formatMinute, formatTable, print, printSecret, requireReader } from '../console/output.ts'
import { withStore } from '../console/store-access.ts'
import { describeLag } from './webhook-lag.ts'

export interface AddOptions {
  readonly database: string
  readonly name: string
  readonly url: string
  readonly events: readonly WebhookEvent[]
  readonly fromOldest?: boolean
  readonly allowPrivateWebhooks: boolean
}

export interface RetryCommandOptions {
  readonly database: string
  readonly fromOldest?: boolean
}

export interface TestOptions {
  readonly database: string
  readonly allowPrivateWebhooks: boolean
}

/** How long the old secret signs too after a rotation: 24 hours. */
const ROTATION_MS = 86_400_000

const KEEP_SAFE = 'Keep it safe: it is not shown again.'

/**
 * Adds a webhook and prints its secret. Nothing else goes to standard output, so that scripts can capture it.
 *
 * @throws CommandError if the URL is refused, the name is taken, or there are too many
 */
export async function addWebhook(options: AddOptions): Promise<void> {
  const { database, name, url, events, fromOldest = false } = options
  const { href } = checkUrl(url, options.allowPrivateWebhooks)
  await withStore({ database }, async (store) => {
    requireReader()
    const latest = await readLatestCursor(store)
    const secret = newSecret()
    const cursor = fromOldest ? undefined : latest
    const createdAt = new Date()
    const result = await new WebhookStore(store).add({
      name,
      url: href,
      events,
      secret,
      createdAt,
      cursor,
    })
    if (result === 'taken') throw new CommandError(`webhook ${name} already exists`)
    if (result === 'full') {
      throw new CommandError(`there are already ${WEBHOOKS_MAX} webhooks: remove one first`)
    }
    await printSecret(secret, `the webhook ${name}`, () => new WebhookStore(store).remove(name))
    const start = fromOldest ? 'the oldest retained change' : 'now'
    process.stderr.write(
      `Sending ${events.join(', ')} in ${describeDatabase(database)} to ${name} from ${start} on. This secret signs them. ${KEEP_SAFE}\n`,
    )
  })
}

/** Prints a table of the webhooks without their secrets. */
export async function listWebhooks(database: string): Promise<void> {
  await withStore({ database }, async (store) => {
    const rows = [['NAME', 'EVENTS', 'STATE', 'LAG', 'LAST SUCCESS', 'LAST FAILURE', 'URL']]
    for (const webhook of await new WebhookStore(store).list())
      rows.push(await webhookCells(store, webhook))
    await print(formatTable(rows))
  })
}

/** @throws CommandError if no webhook has the name */
export async function removeWebhook(database: string, name: string): Promise<void> {
  await withStore({ database }, async (store) => {
    requireFound(name, await new WebhookStore(store).remove(name))
    await print(`removed ${name} in ${describeDatabase(database)}\n`)
  })
}

/**
 * Makes the service deliver to a webhook immediately.
 *
 * @throws CommandError if no webhook has the name, or changes after its cursor are missing, unless with `--from-oldest`
 */
export async function retryWebhook(
  name: string,
  { database, fromOldest = false }: RetryCommandOptions,
): Promise<void> {
  await withStore({ database }, async (store) => {
    const { cursor } = (await find(store, name)).progress
    const after = fromOldest ? undefined : cursor
    const page = await store.readChanges({ after, limit: 1 })
    if (typeof page === 'string') {
      throw new CommandError(
        `cannot resume ${name}: the changes after its last delivery are no longer retained. With --from-oldest, it continues with the oldest retained change and misses the deleted ones`,
      )
    }
    requireFound(name, await new WebhookStore(store).resume(name, fromOldest))
    await print(`resumed ${name} in ${describeDatabase(database)}\n`)
  })
}

/**
 * Replaces the secret of a webhook and prints the new one.
 *
 * @throws CommandError if no webhook has the name
 */
export async function rotateWebhook(database: string, name: string): Promise<void> {
  await withStore({ database }, async (store) => {
    requireReader()
    await find(store, name)
    const secret = newSecret()
    // Printed before it is stored: if printing failed afterwards, the old secret could not be restored.
    await print(`${secret}\n`)
    const until = new Date(Date.now() + ROTATION_MS)
    requireFound(name, await new WebhookStore(store).rotateSecret(name, secret, until))
    process.stderr.write(
      `Rotated the secret of ${name} in ${describeDatabase(database)}. Until ${formatMinute(until)}, deliveries are signed with the old secret too. ${KEEP_SAFE}\n`,
    )
  })
}

/**
 * Delivers a sample plant from this process.
 *
 * @throws CommandError if no webhook has the name, or the receiver does not confirm the delivery
 */
export async function testWebhook(
  name: string,
  { database, allowPrivateWebhooks: allowPrivate }: TestOptions,
): Promise<void> {
  await withStore({ database }, async (store) => {
    const webhook = await find(store, name)
    const sender = new Sender({ allowPrivate })
    const message = toMessage(`msg_${randomUUID()}`, SAMPLE, webhook, Date.now())
    const delivery = await sender.send(webhook.url, message, new AbortController().signal)
    sender.close()
    if (delivery.result === 'failed') {
      throw new CommandError(`the delivery failed: ${delivery.reason}`)
    }
    if (delivery.result === 'gone') {
      throw new CommandError(
        'the receiver wants no events (status 410): the service removes the webhook at the next one',
      )
    }
    await print(`delivered ${SAMPLE.name} to ${name}: status ${delivery.status}\n`)
  })
}

function checkUrl(url: string, allowPrivate: boolean): URL {
  try {
    return parseEndpoint(url, allowPrivate)
  } catch (error) {
    throw new CommandError(`invalid --url: ${messageOf(error)}`)
  }
}

function requireFound(name: string, isFound: boolean): void {
  if (!isFound) throw new CommandError(`webhook ${name} does not exist`)
}

async function find(store: Store, name: string): Promise<Webhook> {
  const webhook = (await new WebhookStore(store).list()).find((each) => each.name === name)
  if (webhook === undefined) throw new CommandError(`webhook ${name} does not exist`)
  return webhook
}

async function webhookCells(store: Store, webhook: Webhook): Promise<string[]> {
  const { name, events, url, progress } = webhook
  const { lastSuccessAt, lastFailureAt, lastFailure } = progress
  return [
    name,
    events.join(),
    describeState(webhook),
    await describeLag(store, webhook),
    lastSuccessAt === undefined ? 'never' : formatMinute(lastSuccessAt),
    lastFailureAt === undefined ? 'never' : `${formatMinute(lastFailureAt)} ${lastFailure}`,
    url,
  ]
}

function describeState({ progress }: Webhook): string {
  const { attempts, pausedAt } = progress
  if (pausedAt !== undefined) return 'paused'
  return attempts === 0 ? 'active' : `failing (${attempts}×)`
}

/** The content of deliveries, signed as Standard Webhooks specifies (https://github.com/standard-webhooks/standard-webhooks). */
import { createHmac, hash, randomBytes } from 'node:crypto'
import type { PlantCodec } from '../../service/plant-codec.ts'
import type { Change } from '../../service/store/change-feed.ts'
import { plantJson } from '../../service/store/plant-content.ts'
import type { Webhook, WebhookEvent } from '../../service/webhook-store.ts'

/** An event: its name and body. */
export interface Event {
  readonly name: WebhookEvent | 'test'
  /** JSON, as the contract describes it. */
  readonly body: string
}

/** A signed HTTP request. */
export interface Message {
  readonly headers: Readonly<Record<string, string | number>>
  readonly body: string
}

const EVENTS = {
  created: 'newPlant',
  changed: 'plantChanged',
  removed: 'plantRemoved',
} as const satisfies Record<Change['type'], WebhookEvent>

/** The name of the event that reports a change. */
export function eventOf({ type }: Change): WebhookEvent {
  return EVENTS[type]
}

export function toEvent(codec: PlantCodec, change: Change): Event {
  const { id, plant } = change
  const body = plant === undefined ? `{"id":${id}}` : codec.plantJson({ id, ...plant })
  return { name: eventOf(change), body }
}

/** For testing an endpoint. No plant was created. */
export const SAMPLE: Event = {
  name: 'test',
  body: plantJson({ id: 4n, name: 'Abies alba Mill.', tag: 'Tree' }),
}

/**
 * The `webhook-id` of a change. It is the same in each attempt to deliver it, so that receivers can recognize
 * repetitions.
 */
export function messageId(webhook: string, { cursor }: Change): string {
  return `msg_${hash('sha256', `${webhook}\n${cursor}`, 'base64url').slice(0, 27)}`
}

/**
 * Signs an event.
 *
 * @param id the `webhook-id`
 * @param now in milliseconds since 1970
 */
export function toMessage(
  id: string,
  { name, body }: Event,
  webhook: Secrets,
  now: number,
): Message {
  const timestamp = Math.floor(now / 1000)
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'user-agent': 'plant-store',
    'webhook-event': name,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': sign({ id, timestamp, body }, currentSecrets(webhook, now)),
  }
  return { headers, body }
}

export type Secrets = Pick<Webhook, 'secret' | 'previousSecret' | 'previousUntil'>

const SECRET_PREFIX = 'whsec_'

/** The specification allows 24 to 64. */
const SECRET_BYTES = 32

/** A new random secret. */
export function newSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/** The secrets that sign deliveries: for some time after a rotation, the old one too. */
export function currentSecrets(
  { secret, previousSecret, previousUntil }: Secrets,
  now: number,
): string[] {
  const isRotating = previousSecret !== undefined && now < Number(previousUntil)
  return isRotating ? [secret, previousSecret] : [secret]
}

/** The signed content. */
export interface SignedContent {
  readonly id: string
  /** In seconds since 1970. */
  readonly timestamp: number
  readonly body: string
}

/** The header `webhook-signature`, with one signature for each secret. */
export function sign({ id, timestamp, body }: SignedContent, secrets: readonly string[]): string {
  return secrets
    .map((secret) => Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64'))
    .map((key) => createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64'))
    .map((signature) => `v1,${signature}`)
    .join(' ')
}

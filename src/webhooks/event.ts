import { hash } from 'node:crypto'
import type { Change } from '../../service/change-feed.ts'
import type { NewPlant } from '../../service/plant-store.ts'
import type { WebhookEvent } from '../../service/webhook-store.ts'

/** The content of a delivery. */
export interface Event {
  readonly name: WebhookEvent | 'test'
  /** JSON, as the contract describes it. */
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

export function toEvent(change: Change): Event {
  const { id, plant } = change
  const body = plant === undefined ? `{"id":${id}}` : plantJson({ id, ...plant })
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

/** Ids are bigints, which JSON.stringify rejects. */
function plantJson({ id, name, tag }: NewPlant): string {
  const rest = tag === undefined ? '' : `,"tag":${JSON.stringify(tag)}`
  return `{"id":${id},"name":${JSON.stringify(name)}${rest}}`
}

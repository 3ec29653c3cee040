/** Whether a receiver got what docs/webhooks.md promises: each change at least once, in order for each plant. */
import { parseJson } from '../../../client/json.ts'
import type { Change } from '../../../service/change-feed.ts'
import type { StoredPlant } from '../../../service/plant-store.ts'
import { keyOf } from '../operations/register.ts'

/** A delivery, in the order of arrival. */
export interface Delivery {
  /** `webhook-id`: the same for each repetition. */
  readonly id: string
  /** `webhook-event` */
  readonly event: string
  readonly body: string
}

const EVENTS = { created: 'newPlant', changed: 'plantChanged', removed: 'plantRemoved' }

/**
 * @param deliveries all deliveries until the webhook had nothing left to deliver
 * @param feed the changes since the webhook was added
 */
export function judgeWebhook(deliveries: readonly Delivery[], feed: readonly Change[]): string[] {
  const first = new Map<string, Delivery>()
  const faults: string[] = []
  for (const delivery of deliveries) {
    const { id, event, body } = first.get(delivery.id) ?? delivery
    if (event !== delivery.event || body !== delivery.body) {
      faults.push(`the event ${id} was ${body}, then ${delivery.body}`)
    }
    if (!first.has(id)) first.set(id, delivery)
  }
  const received = Map.groupBy([...first.values()].map(toLine), ({ id }) => id)
  const expected = Map.groupBy(feed.map(toExpectedLine), ({ id }) => id)
  for (const id of new Set([...received.keys(), ...expected.keys()])) {
    const [found = [], wanted = []] = [received.get(id), expected.get(id)]
    const place = Array.from({ length: Math.max(found.length, wanted.length) }).findIndex(
      (_, index) => found[index]?.line !== wanted[index]?.line,
    )
    if (place >= 0) {
      faults.push(
        `event ${place} of ${id} is ${found[place]?.line ?? 'missing'}, not ${wanted[place]?.line ?? 'one'}`,
      )
    }
  }
  return faults
}

function toLine({ event, body }: Delivery): { readonly id: bigint; readonly line: string } {
  const { id, ...plant } = parseJson(body) as StoredPlant
  return { id, line: `${event} ${event === EVENTS.removed ? '' : keyOf(plant)}` }
}

function toExpectedLine({ type, id, plant }: Change): {
  readonly id: bigint
  readonly line: string
} {
  return { id, line: `${EVENTS[type]} ${keyOf(plant)}` }
}

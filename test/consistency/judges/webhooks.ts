/**
 * Whether a receiver got what docs/webhooks.md promises: each change at least once, and those of a plant one at a time and
 * in order.
 */
import { parseJson } from '../../../client/json.ts'
import type { Change } from '../../../service/store/change-feed.ts'
import type { StoredPlant } from '../../../service/store/plant-store.ts'
import { keyOf } from '../operations/register.ts'

/** A delivery, in the order of arrival. */
export interface Delivery {
  /** `webhook-id`: the same for each repetition. */
  readonly id: string
  /** `webhook-event` */
  readonly event: string
  readonly body: string
  /** When it arrived. */
  readonly at: number
  /** When it was answered, or its connection was lost; undefined if neither happened. */
  readonly ended: number | undefined
}

const EVENTS = { created: 'newPlant', changed: 'plantChanged', removed: 'plantRemoved' }

/**
 * @param deliveries all deliveries until the webhook had nothing left to deliver
 * @param feed the changes since the webhook was added
 */
export function judgeWebhook(deliveries: readonly Delivery[], feed: readonly Change[]): string[] {
  const first = new Map<string, Delivery>()
  const faults = judgeTurns(deliveries)
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

/** Two processes that deliver the same events are each in order, but do not wait for each other. */
function judgeTurns(deliveries: readonly Delivery[]): string[] {
  const byPlant = Map.groupBy(deliveries, (each) => toLine(each).id)
  return [...byPlant].flatMap(([id, each]) => {
    const place = each.findIndex(({ at }, index) => {
      const { ended = Number.POSITIVE_INFINITY } = each[index - 1] ?? { ended: 0 }
      return at < ended
    })
    return place < 0 ? [] : [`delivery ${place} of ${id} arrived during the one before it`]
  })
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

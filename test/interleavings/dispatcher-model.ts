/** The feed of a service, and the progress and the receiver of its only webhook. They outlive processes. */
import type { Change } from '../../service/store/change-feed.ts'
import type { WebhookProgress } from '../../service/webhook-store.ts'
import { inTurn, type Schedule } from './schedules.ts'

export const CREATED_AT = new Date(0)

/** The result of an attempt. After `lost`, the receiver has the event, but the sender does not know. */
export type Outcome = 'received' | 'failed' | 'lost' | 'bug'

export class Model {
  readonly schedule: Schedule
  readonly feed: Change[] = []
  progress: WebhookProgress
  readonly isReadable: () => boolean
  readonly nextOutcome: () => Outcome
  readonly inFlight = new Set<bigint>()
  /** The cursors of the changes that the receiver has. */
  readonly received = new Set<string>()
  #added = Promise.withResolvers<void>()

  constructor(
    schedule: Schedule,
    faults: { outcomes: readonly Outcome[]; reads: readonly boolean[]; isFromOldest: boolean },
  ) {
    this.schedule = schedule
    this.progress = { cursor: faults.isFromOldest ? undefined : cursorOf(0), attempts: 0 }
    this.isReadable = inTurn(faults.reads, true)
    this.nextOutcome = inTurn(faults.outcomes, 'received')
  }

  add(id: bigint, type: Change['type']): void {
    const place = { cursor: cursorOf(this.feed.length + 1), at: CREATED_AT.toISOString(), id }
    const plant = { name: 'Abies' }
    this.feed.push(type === 'removed' ? { ...place, type } : { ...place, type, plant })
    this.#added.resolve()
    this.#added = Promise.withResolvers()
  }

  /** Resolves when a change is added. */
  added(): Promise<void> {
    return this.#added.promise
  }
}

export function isDue({ type }: Change): boolean {
  return type !== 'removed'
}

/** The cursor after some changes, which can be sorted. */
export function cursorOf(count: number): string {
  return `c${String(count).padStart(2, '0')}`
}

export function positionOf(cursor = cursorOf(0)): number {
  return Number(cursor.slice(1))
}

import ms from 'ms'
import { systemClock } from '../../../core/time/clock.ts'
import { readRestriction } from '../../../service/restriction.ts'
import { readLatestCursor } from '../../../service/store/change-feed.ts'
import { type Webhook, WebhookStore } from '../../../service/webhook-store.ts'
import { describeDatabase } from '../../stores/engines.ts'
import type { Store } from '../../stores/shared/store.ts'
import { escapeControlCharacters } from '../../system/control-characters.ts'
import { CommandError, Interrupted } from '../../system/user-errors.ts'
import { eventOf } from '../../webhooks/message.ts'
import { announce } from '../console/output.ts'
import { onStopSignal } from '../console/signals.ts'

/** How many changes are searched for the next one to deliver. */
const LAG_PAGE_SIZE = 1000

/** How often to look for undelivered events. Changes are refused meanwhile. */
const POLL_MS = 250

const INTERRUPTED = 'interrupted: nothing was copied'

const WAYS_OUT =
  'nothing was copied. Let the service deliver them (--wait waits for that), resume a paused webhook with plant-store webhook retry, or remove one whose receiver is gone with plant-store webhook remove'

/** How long the first change to deliver has been waiting: a time, `none` or `expired`. */
export async function describeLag(store: Store, webhook: Webhook): Promise<string> {
  const { events, progress } = webhook
  const page = await store.readChanges({ after: progress.cursor, limit: LAG_PAGE_SIZE })
  // To the operator, a cursor of another log is an expired one.
  if (typeof page === 'string') return 'expired'
  const { changes } = page
  const next = changes.find((change) => events.includes(eventOf(change)))
  // While there is nothing to deliver, the stored cursor lags.
  const isEnd = page.next === (await readLatestCursor(store))
  const change = next ?? (isEnd ? undefined : changes.at(-1))
  return change === undefined ? 'none' : ms(Math.max(0, systemClock.now() - Date.parse(change.at)))
}

/**
 * Resolves if a database is not frozen, or all events of its webhooks are delivered: otherwise, receivers could get
 * older events of a plant from this database after newer ones from the database that the webhooks are copied to.
 *
 * @param wait wait for the deliveries
 * @throws CommandError if there are undelivered events and, with `wait`, those of a paused webhook; Interrupted
 */
export async function requireDelivered(
  store: Store,
  database: string,
  wait = false,
): Promise<void> {
  if ((await readRestriction(store)) !== 'frozen') return
  const source = describeDatabase(database)
  const stop = new AbortController()
  if (wait) onStopSignal((exitCode) => stop.abort(new Interrupted(exitCode, INTERRUPTED)))
  let waitingFor: string | undefined
  for (;;) {
    const lagging = await findLagging(store)
    if (lagging.length === 0) return
    if (!wait || lagging.some(({ isPaused }) => isPaused)) {
      const described = lagging.map(({ description }) => description).join(', ')
      throw new CommandError(`${source} has undelivered events for ${described}; ${WAYS_OUT}`)
    }
    const names = escapeControlCharacters(lagging.map(({ name }) => name).join(', '))
    if (names !== waitingFor) {
      await announce(`waiting for the service of ${source} to deliver to ${names}\n`)
    }
    waitingFor = names
    await systemClock.wait(POLL_MS, stop.signal)
    stop.signal.throwIfAborted()
  }
}

async function findLagging(store: Store) {
  const lagging: { name: string; isPaused: boolean; description: string }[] = []
  for (const webhook of await new WebhookStore(store).list()) {
    const { name, progress } = webhook
    const lag = await describeLag(store, webhook)
    if (lag === 'none') continue
    const isPaused = progress.pausedAt !== undefined
    const description = `${name} (lag ${lag}${isPaused ? ', paused' : ''})`
    lagging.push({ name, isPaused, description })
  }
  return lagging
}

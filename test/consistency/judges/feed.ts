/**
 * Whether the feed agrees with the responses (docs/changes.md): it has every content that a response has shown and
 * nothing that no call has made, and it yields the plants that are stored. If one change was acknowledged before another
 * was requested, it comes first. So does the earlier of two contents of a plant, if any response has shown it before
 * another call that shows the later one.
 */
import { toJson } from '../../../client/json.ts'
import type { Change } from '../../../service/store/change-feed.ts'
import type { StoredPlant } from '../../../service/store/plant-store.ts'
import { replay } from '../../stores/feed-reads.ts'
import type { Call, History } from '../history.ts'
import { contentOf, keyOf } from '../operations/register.ts'
import { type Action, describe, timelinesOf } from './timelines.ts'

/**
 * @param feed all changes since the database was created
 * @param stored the plants at the end, in the order of their ids
 */
export function judgeFeed(
  history: History,
  feed: readonly Change[],
  stored: readonly StoredPlant[],
): string[] {
  const faults = [...judgeCursors(feed), ...judgeReplay(feed, stored)]
  const restored = history.marks.findLast(({ mark }) => mark === 'restored')
  const restoredAt = restored?.at ?? Number.NEGATIVE_INFINITY
  const signed: Signed[] = []
  for (const [id, actions] of timelinesOf(history).actions) {
    const changes = feed.filter((change) => change.id === id)
    const kept = actions.filter(({ call }) => call.called > restoredAt)
    faults.push(
      ...judgeOrigins(changes, actions),
      ...judgeContents(changes, kept),
      ...judgeRemovals(id, changes, actions, kept),
      ...judgeShown(changes, kept),
    )
    signed.push(...signedChanges(changes, actions).filter(({ call }) => call.called > restoredAt))
  }
  const places = new Map(feed.map((change, place) => [change, place]))
  const inOrder = signed.toSorted(
    (one, other) => (places.get(one.change) ?? 0) - (places.get(other.change) ?? 0),
  )
  return [...faults, ...judgeOrder(inOrder)]
}

/** Whether a follower has received the end of the feed, from its first change on: nothing twice, nothing skipped. */
export function judgeFollower(received: readonly Change[], feed: readonly Change[]): string[] {
  const [first] = received
  if (first === undefined) return []
  const start = feed.findIndex(({ cursor }) => cursor === first.cursor)
  const expected = feed.slice(start).map((change) => toJson(change))
  const place = expected.findIndex((change, index) => change !== toJson(received[index] ?? null))
  if (place >= 0) {
    return [`the follower received ${toJson(received[place] ?? null)}, not ${expected[place]}`]
  }
  return received.length > expected.length
    ? ['the follower received changes that are not in the feed']
    : []
}

function judgeCursors(feed: readonly Change[]): string[] {
  const distinct = new Set(feed.map(({ cursor }) => cursor))
  return distinct.size === feed.length
    ? []
    : [`${feed.length - distinct.size} changes have the cursor of another`]
}

function judgeReplay(feed: readonly Change[], stored: readonly StoredPlant[]): string[] {
  try {
    const replayed = toJson(replay(feed))
    return replayed === toJson(stored)
      ? []
      : [`the changes yield ${replayed}, not ${toJson(stored)}`]
  } catch (error) {
    return [`the changes contradict each other: ${(error as Error).message}`]
  }
}

function judgeOrigins(changes: readonly Change[], actions: readonly Action[]): string[] {
  const names = new Set(actions.map(({ step }) => step.writes?.name))
  return changes
    .filter(({ plant }) => plant !== undefined && !names.has(plant.name))
    .map((change) => `nobody made the change ${toJson(change)}`)
}

function judgeContents(changes: readonly Change[], actions: readonly Action[]): string[] {
  const contents = new Set(changes.map(({ plant }) => keyOf(plant && contentOf(plant))))
  return actions
    .filter(({ step }) => step.shows !== undefined && !contents.has(keyOf(step.shows)))
    .map(({ call }) => `the feed lacks ${describe(call)}`)
}

function judgeRemovals(
  id: bigint,
  changes: readonly Change[],
  actions: readonly Action[],
  kept: readonly Action[],
): string[] {
  const isRemoval = ({ step }: Action) =>
    !step.isRead && step.writes !== undefined && step.writes.name === undefined
  const found = changes.filter(({ type }) => type === 'removed').length
  const isCertain = ({ isOpen, step }: Action) => !isOpen && !step.isUncertain
  const least = kept.filter((action) => isRemoval(action) && isCertain(action)).length
  const most = actions.filter(isRemoval).length
  return found >= least && found <= most
    ? []
    : [`the feed has ${found} removals of ${id}, not ${least} to ${most}`]
}

/** Whether the changes to a plant are in the order in which calls have shown it, as far as one call ended before another. */
function judgeShown(changes: readonly Change[], actions: readonly Action[]): string[] {
  const places = new Map<string, number>()
  const repeated = new Set<string>()
  for (const [place, { plant }] of changes.entries()) {
    const key = keyOf(plant && contentOf(plant))
    if (places.has(key)) repeated.add(key)
    places.set(key, place)
  }
  const shown = actions.flatMap(({ call, step, isOpen }) => {
    const key = keyOf(step.shows)
    const place = places.get(key)
    const isCertain = !isOpen && call.ended !== undefined && step.shows !== undefined
    return isCertain && place !== undefined && !repeated.has(key) ? [{ call, place }] : []
  })
  const byEnd = shown.toSorted((one, other) => (one.call.ended ?? 0) - (other.call.ended ?? 0))
  const byCall = shown.toSorted((one, other) => one.call.called - other.call.called)
  const faults: string[] = []
  let latest: (typeof shown)[number] | undefined
  let ended = 0
  for (const each of byCall) {
    for (; (byEnd[ended]?.call.ended ?? Number.POSITIVE_INFINITY) < each.call.called; ended++) {
      const before = byEnd[ended]
      if (before !== undefined && before.place > (latest?.place ?? -1)) latest = before
    }
    if (latest !== undefined && latest.place > each.place) {
      faults.push(`in the feed, ${describe(each.call)}\n  is before ${describe(latest.call)}`)
    }
  }
  return faults
}

interface Signed {
  readonly change: Change
  readonly call: Call
}

/** The changes to a name that only one call has written, whose response has arrived. */
function signedChanges(changes: readonly Change[], actions: readonly Action[]): Signed[] {
  const writers = Map.groupBy(
    actions.filter(({ step }) => step.writes?.name !== undefined),
    ({ step }) => step.writes?.name,
  )
  return [...writers].flatMap(([name, [action, ...others]]) => {
    const change = changes.find(({ plant }) => plant?.name === name)
    if (action === undefined || action.isOpen || others.length > 0 || !change) return []
    return [{ change, call: action.call }]
  })
}

function judgeOrder(signed: readonly Signed[]): string[] {
  const faults: string[] = []
  let latest: Call | undefined
  for (const { call } of signed) {
    if (latest !== undefined && (call.ended ?? 0) < latest.called) {
      faults.push(`in the feed, ${describe(latest)}\n  is before ${describe(call)}`)
    }
    if (latest === undefined || call.called > latest.called) latest = call
  }
  return faults
}

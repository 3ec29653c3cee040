/** How much a run could have found: calls that overlapped, and outcomes that stayed open. */
import type { Action } from './timelines.ts'

export interface Overlap {
  /** Pairs of calls on the same plant that overlapped, at least one of them a change. */
  readonly pairs: number
  readonly open: number
}

export function overlapOf(actions: readonly Action[]): Overlap {
  const events = actions.flatMap(({ call, step: { isRead } }) => [
    { at: call.called, change: 1, isRead },
    { at: call.ended ?? Number.POSITIVE_INFINITY, change: -1, isRead },
  ])
  events.sort((one, other) => one.at - other.at || other.change - one.change)
  let [reads, changes, pairs] = [0, 0, 0]
  for (const { change, isRead } of events) {
    if (change > 0) pairs += isRead ? changes : reads + changes
    if (isRead) reads += change
    else changes += change
  }
  return { pairs, open: actions.filter(({ isOpen }) => isOpen).length }
}

/**
 * Whether there is an order of the actions on a plant that agrees with time and with every response (Wing and Gong,
 * with the just-in-time search of Lowe, "Testing for linearizability", 2017).
 *
 * The search goes through the calls and the returns of all actions in time, and keeps every configuration that could
 * hold: the state of the plant, the actions under way that have taken effect, and the open ones that have. It orders
 * actions only when one of them returns. These observations keep that almost linear in time:
 *
 * - A read takes effect as soon as the state allows it, because it changes nothing for the others.
 * - Every change determines the state after it, so an open change matters only if it makes the next action possible
 *   that the state before it does not. Any other can be moved after that action, or left out.
 * - Of open changes that no later response can tell apart, only one is tried.
 * - A configuration that has used more open changes than another one, but is otherwise the same, is dropped.
 * - A content that a later response shows cannot be overwritten, unless another call can write it again.
 *
 * An order is a proof, however it was found, so the first search keeps only one configuration of those that differ in
 * the open changes that they have used. The second search lets open changes take effect more than once. If even that
 * finds no order, there is none. Further searches keep more configurations. If none of them is certain, the verdict is
 * `undecided`, and the run fails.
 */
import type { Mark } from '../../history.ts'
import type { State } from '../../operations/register.ts'
import type { Action } from '../timelines.ts'
import type { Event } from './configurations.ts'
import { Observations } from './observations.ts'
import { Search } from './search.ts'

export type Verdict =
  | { readonly is: 'linearizable' }
  /** The state or states before the shortest part of the actions that has no order, and these actions. */
  | { readonly is: 'violated' | 'undecided'; readonly states: State[]; readonly actions: Action[] }

/** A return sees the calls of the same instant, so that these overlap. */
const ORDER = { call: 0, return: 1, mark: 2 }

/** How many events before a violation are shown, if they cannot be reduced. */
const SHOWN = 12

/** The searches, one after the other until one is certain. */
const SEARCHES = [
  { alternativesMax: 1, reusesOpen: false },
  { alternativesMax: 1, reusesOpen: true },
  { alternativesMax: 4, reusesOpen: false },
  { alternativesMax: 16, reusesOpen: false },
]

/** @param id the plant */
export function judgePlant(
  id: bigint,
  actions: readonly Action[],
  marks: readonly Mark[],
): Verdict {
  const events = eventsOf(actions, marks)
  const observations = new Observations(id, events)
  let verdict: Verdict = { is: 'linearizable' }
  for (const options of SEARCHES) {
    const result = follow(events, new Search(id, observations, { ...options, looksAhead: true }))
    if (result.is === 'violated') {
      // A search that does not look ahead reaches the response that is wrong.
      const found = follow(events, new Search(id, observations, { ...options, looksAhead: false }))
      return found.is === 'violated' ? found : result
    }
    if (!options.reusesOpen) verdict = result
    if (verdict.is === 'linearizable') return verdict
  }
  return verdict
}

function follow(events: readonly Event[], search: Search): Verdict {
  const copies: { readonly search: Search; readonly index: number }[] = []
  for (const [index, event] of events.entries()) {
    if (index % SHOWN === 0) {
      copies.push({ search: search.copy(), index })
      if (copies.length > 2) copies.shift()
    }
    const result = search.continue(event)
    if (result === 'possible') continue
    const [{ search: start, index: from }] = copies as [(typeof copies)[0]]
    const shown = shortest(start, events.slice(from, index + 1))
    const calls = shown.flatMap((each) => (each.type === 'return' ? [each.action] : []))
    const underWay = shown.flatMap((each) =>
      each.type === 'call' && !calls.includes(each.action) ? [each.action] : [],
    )
    const all = new Set([...start.pending, ...underWay, ...calls])
    return { is: result, states: start.states, actions: [...all] }
  }
  return { is: 'linearizable' }
}

/** Before their order is known. */
type Unplaced = Event extends infer Each
  ? Each extends unknown
    ? Omit<Each, 'place'>
    : never
  : never

function eventsOf(actions: readonly Action[], marks: readonly Mark[]): Event[] {
  const events: Unplaced[] = marks.map((mark) => ({ at: mark.at, type: 'mark', mark }))
  const inOrder = actions.toSorted((one, other) => one.call.called - other.call.called)
  for (const [number, action] of inOrder.entries()) {
    const numbered = { ...action, number }
    events.push({ at: action.call.called, type: 'call', action: numbered })
    if (!action.isOpen) {
      events.push({ at: action.call.ended as number, type: 'return', action: numbered })
    }
  }
  return events
    .sort((one, other) => one.at - other.at || ORDER[one.type] - ORDER[other.type])
    .map((event, place) => ({ ...event, place }))
}

/** Removes the reads without which the rest is still impossible. Without a change, the rest could become impossible. */
function shortest(start: Search, events: readonly Event[]): readonly Event[] {
  const isViolated = (tried: readonly Event[]) => {
    const search = start.copy()
    return tried.some((event) => search.continue(event) === 'violated')
  }
  let left = events
  for (const event of events) {
    if (event.type !== 'call' || !event.action.step.isRead) continue
    const fewer = left.filter((each) => each.type === 'mark' || each.action !== event.action)
    if (isViolated(fewer)) left = fewer
  }
  return left
}

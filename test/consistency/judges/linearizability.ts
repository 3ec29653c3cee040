/**
 * Whether there is an order of the actions on a plant that agrees with time and with every response (Wing and Gong,
 * with the just-in-time search of Lowe, "Testing for linearizability", 2017).
 *
 * The search goes through the calls and the returns of all actions in time, and keeps every configuration that could
 * hold: the state of the plant, the actions under way that have taken effect, and the open ones that have. It orders
 * actions only when one of them returns. Four observations keep that almost linear in time:
 *
 * - A read takes effect as soon as the state allows it, because it changes nothing for the others.
 * - Every change determines the state after it, so an open change matters only if it makes the next action possible
 *   that the state before it does not. Others can be moved behind that action, or have never been made.
 * - Of open changes that nobody can tell apart, only the oldest is tried: its time ends first.
 * - A configuration that has used more open changes than another one, but is otherwise the same, is dropped.
 *
 * A search that reaches a limit says so. That is a failure of the run: nothing is known then.
 */
import type { Mark } from '../history.ts'
import type { State, Step } from '../operations/register.ts'
import { type Event, Search } from './search.ts'
import type { Action } from './timelines.ts'

export type Verdict =
  | { readonly is: 'linearizable' }
  /** The state or states before the shortest part of the actions that has no order, and these actions. */
  | { readonly is: 'violated' | 'undecided'; readonly states: State[]; readonly actions: Action[] }

/** A return sees the calls of the same instant, so that these overlap. */
const ORDER = { call: 0, return: 1, mark: 2 }

/** How many events before a violation are shown, if they cannot be made fewer. */
const SHOWN = 12

/**
 * Judges the actions on one plant. An order is a proof, however it was found, so the first search leaves out the open
 * changes that no response shows. They can explain no more than that some plant was there.
 *
 * @param id the plant
 */
export function judgePlant(
  id: bigint,
  actions: readonly Action[],
  marks: readonly Mark[],
): Verdict {
  const shown = namesIn(actions.filter(({ isOpen }) => !isOpen))
  const likely = actions.filter(({ isOpen, step }) => !isOpen || isShown(step, shown))
  const verdict = judgeActions(id, likely, marks)
  return verdict.is === 'linearizable' ? verdict : judgeActions(id, actions, marks)
}

function namesIn(actions: readonly Action[]): ReadonlySet<string | undefined> {
  return new Set(actions.flatMap(({ step }) => [step.writes?.name, step.shows?.name]))
}

function isShown({ writes }: Step, shown: ReadonlySet<string | undefined>): boolean {
  return writes?.name === undefined || shown.has(writes.name)
}

function judgeActions(id: bigint, actions: readonly Action[], marks: readonly Mark[]): Verdict {
  const events = eventsOf(actions, marks)
  const search = new Search(id)
  const copies: { readonly search: Search; readonly index: number }[] = []
  for (const [index, event] of events.entries()) {
    if (index % SHOWN === 0) {
      copies.push({ search: search.copy(), index })
      if (copies.length > 2) copies.shift()
    }
    const result = search.continue(event)
    if (result === 'possible') continue
    const [{ search: start, index: from }] = copies as [(typeof copies)[0]]
    const shown =
      result === 'undecided'
        ? events.slice(from, index + 1)
        : shortest(start, events.slice(from, index + 1))
    const calls = shown.flatMap((each) => (each.type === 'return' ? [each.action] : []))
    const underWay = shown.flatMap((each) =>
      each.type === 'call' && !calls.includes(each.action) ? [each.action] : [],
    )
    return {
      is: result,
      states: start.states,
      actions: [...start.pending, ...underWay, ...calls].filter(
        (each, at, all) => all.indexOf(each) === at,
      ),
    }
  }
  return { is: 'linearizable' }
}

function eventsOf(actions: readonly Action[], marks: readonly Mark[]): Event[] {
  const events: Event[] = marks.map((mark) => ({ at: mark.at, type: 'mark', mark }))
  const inOrder = actions.toSorted((one, other) => one.call.called - other.call.called)
  for (const [number, action] of inOrder.entries()) {
    const numbered = { ...action, number }
    events.push({ at: action.call.called, type: 'call', action: numbered })
    if (!action.isOpen) {
      events.push({ at: action.call.ended as number, type: 'return', action: numbered })
    }
  }
  return events.sort((one, other) => one.at - other.at || ORDER[one.type] - ORDER[other.type])
}

/** Removes the reads without which the rest is still impossible. Without a change, the rest could become impossible. */
function shortest(start: Search, events: readonly Event[]): readonly Event[] {
  const isPossible = (tried: readonly Event[]) => {
    const search = start.copy()
    return tried.every((event) => search.continue(event) === 'possible')
  }
  let left = events
  for (const event of events) {
    if (event.type !== 'call' || !event.action.step.isRead) continue
    const fewer = left.filter((each) => each.type === 'mark' || each.action !== event.action)
    if (!isPossible(fewer)) left = fewer
  }
  return left
}

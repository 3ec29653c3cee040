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
import { IMPOSSIBLE, isSame, keyOf, type State, type Step } from '../operations/register.ts'
import type { Action } from './timelines.ts'

/** The most configurations at a time, and the most that one return is explored with. */
const CONFIGURATIONS_MAX = 5_000

/** The most open changes in a row. */
const OPEN_IN_A_ROW_MAX = 3

/** How many configurations a search can make at once, and for each event in the long run. */
const WORK_MAX = 200_000
const WORK_PER_EVENT = 200

/** The most sequences of open changes that are tried to make one action possible. */
const SEQUENCES_MAX = 200

/** An action, numbered by its call. */
interface Numbered extends Action {
  readonly number: number
}

interface Configuration {
  readonly state: State
  /** Actions under way that have taken effect. */
  readonly done: ReadonlySet<Numbered>
  /** Open changes that have taken effect. */
  readonly used: ReadonlySet<Numbered>
}

export type Verdict =
  | { readonly is: 'linearizable' }
  /** The state or states before the shortest part of the actions that has no order, and these actions. */
  | { readonly is: 'violated' | 'undecided'; readonly states: State[]; readonly actions: Action[] }

type Event =
  | { readonly at: number; readonly type: 'call' | 'return'; readonly action: Numbered }
  | { readonly at: number; readonly type: 'mark'; readonly mark: Mark }

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

class Search {
  readonly #id: bigint
  #configurations: readonly Configuration[] = [NOTHING]
  #pending = new Set<Numbered>()
  #open: readonly Numbered[] = []
  /** Whether some configurations have been left out. */
  #isCut = false
  #work = 0

  constructor(id: bigint) {
    this.#id = id
  }

  copy(): Search {
    const copy = new Search(this.#id)
    copy.#configurations = this.#configurations
    copy.#pending = new Set(this.#pending)
    copy.#open = this.#open
    copy.#isCut = this.#isCut
    copy.#work = this.#work
    return copy
  }

  /** The states that the plant can have. */
  get states(): State[] {
    const states = new Map(this.#configurations.map(({ state }) => [keyOf(state), state]))
    return [...states.values()]
  }

  get pending(): Action[] {
    return [...this.#pending]
  }

  continue(event: Event): 'possible' | 'violated' | 'undecided' {
    this.#work = Math.max(0, this.#work - WORK_PER_EVENT)
    if (event.type === 'mark') this.#mark(event.mark)
    else if (event.type === 'call') this.#call(event.action)
    else if (!this.#return(event.action)) return this.#isCut ? 'undecided' : 'violated'
    return this.#work > WORK_MAX ? 'undecided' : 'possible'
  }

  /** Open changes have taken effect by now, or never will. */
  #mark(mark: Mark): void {
    this.#isCut = false
    const ends =
      mark.mark === 'fence'
        ? this.#reachable()
        : [{ ...NOTHING, state: contentIn(mark.plants, this.#id) }]
    this.#configurations = distinct(ends.map((each) => ({ ...each, used: NONE })))
    this.#open = []
  }

  /** All configurations that the actions that were called can have led to. */
  #reachable(): Configuration[] {
    const all = new Map(this.#configurations.map((each) => [identify(each), each]))
    for (const configuration of all.values()) {
      const next = [...this.#successors(configuration), ...this.#afterOpen(configuration)]
      for (const each of next) {
        if (!all.has(identify(each))) all.set(identify(each), each)
      }
      if (all.size > CONFIGURATIONS_MAX || this.#work > WORK_MAX) {
        this.#isCut = true
        break
      }
    }
    return [...all.values()]
  }

  /** The configurations after one more open change. */
  #afterOpen(configuration: Configuration): Configuration[] {
    return this.#distinctOpen(configuration).map((open) => {
      const state = open.step.apply(configuration.state) as State
      return this.#read({ ...configuration, state, used: new Set([...configuration.used, open]) })
    })
  }

  #call(action: Numbered): void {
    if (action.isOpen) {
      this.#open = [...this.#open, action]
      return
    }
    this.#pending.add(action)
    if (action.step.isRead)
      this.#configurations = this.#configurations.map((each) => this.#read(each))
  }

  /** @returns whether the action can have taken effect by now */
  #return(action: Numbered): boolean {
    const results: Configuration[] = []
    const seen = new Set<string>()
    let rest = this.#configurations
    while (rest.length > 0) {
      const next: Configuration[] = []
      for (const configuration of rest) {
        if (configuration.done.has(action)) results.push(configuration)
        else next.push(...this.#successors(configuration))
      }
      rest = next.filter((each) => {
        const key = identify(each)
        return !seen.has(key) && seen.add(key)
      })
      if (seen.size <= CONFIGURATIONS_MAX && this.#work <= WORK_MAX) continue
      this.#isCut = true
      break
    }
    this.#pending.delete(action)
    this.#configurations = distinct(
      results.map((each) => ({ ...each, done: without(each.done, action) })),
    )
    return results.length > 0
  }

  /** The configurations after one more action under way, made possible by open changes if necessary. */
  #successors(configuration: Configuration): Configuration[] {
    return [...this.#pending]
      .filter((action) => !configuration.done.has(action))
      .flatMap((action) => {
        const state = action.step.apply(configuration.state)
        const ready =
          state === IMPOSSIBLE ? this.#withOpen(configuration, action.step) : [configuration]
        return ready.map((each) => this.#take(each, action))
      })
  }

  #take(configuration: Configuration, action: Numbered): Configuration {
    const state = action.step.apply(configuration.state) as State
    return this.#read({ ...configuration, state, done: new Set([...configuration.done, action]) })
  }

  /** Lets every read under way take effect that the state allows. */
  #read(configuration: Configuration): Configuration {
    this.#work += 1
    const { state, done } = configuration
    const reads = [...this.#pending].filter(
      (action) =>
        action.step.isRead && !done.has(action) && action.step.apply(state) !== IMPOSSIBLE,
    )
    return reads.length === 0
      ? configuration
      : { ...configuration, done: new Set([...done, ...reads]) }
  }

  /** The configurations after open changes that make a step possible. */
  #withOpen(from: Configuration, step: Step): Configuration[] {
    const ready: Configuration[] = []
    const seen = new Set([identify(from)])
    let rest = [from]
    for (let length = 0; length < OPEN_IN_A_ROW_MAX && rest.length > 0; length++) {
      const next: Configuration[] = []
      for (const each of rest) {
        if (!this.#canLead(each, step)) continue
        for (const after of this.#afterOpen(each)) {
          if (step.apply(after.state) !== IMPOSSIBLE) ready.push(after)
          else if (!seen.has(identify(after))) {
            seen.add(identify(after))
            next.push(after)
          }
        }
      }
      rest = next
      if (seen.size > SEQUENCES_MAX || this.#work > WORK_MAX) break
    }
    if (rest.length > 0) this.#isCut = true
    return ready
  }

  /** Whether open changes can give the plant one of the names that a step accepts. */
  #canLead({ state, used }: Configuration, { accepted }: Step): boolean {
    if (accepted === undefined) return true
    return (
      (state !== undefined && accepted.includes(state.name)) ||
      this.#open.some(
        (open) => !used.has(open) && open.step.writes && accepted.includes(open.step.writes.name),
      )
    )
  }

  /** The open changes that can have an effect, of those with the same effect only the oldest. */
  #distinctOpen({ state, used }: Configuration): Numbered[] {
    const effects = new Map<string, Numbered>()
    for (const open of this.#open) {
      if (used.has(open) || isSame(open.step.apply(state) as State, state)) continue
      const { operation, arguments: given } = open.call
      const effect = operation === 'remove' ? `remove ${given.version}` : String(open.number)
      if (!effects.has(effect)) effects.set(effect, open)
    }
    return [...effects.values()]
  }
}

const NONE: ReadonlySet<Numbered> = new Set()
const NOTHING: Configuration = { state: undefined, done: NONE, used: NONE }

function contentIn(plants: Extract<Mark, { mark: 'restored' }>['plants'], id: bigint): State {
  const plant = plants.find((each) => each.id === id)
  if (plant === undefined) return undefined
  return plant.tag === undefined ? { name: plant.name } : { name: plant.name, tag: plant.tag }
}

/** Each configuration once, without those that have used more open changes than another one. */
function distinct(configurations: readonly Configuration[]): Configuration[] {
  const fewest = new Map<string, Configuration[]>()
  const byUse = configurations.toSorted((one, other) => one.used.size - other.used.size)
  for (const configuration of byUse) {
    const key = `${keyOf(configuration.state)} ${numbers(configuration.done)}`
    const others = fewest.get(key) ?? []
    if (others.some(({ used }) => used.isSubsetOf(configuration.used))) continue
    fewest.set(key, [...others, configuration])
  }
  return [...fewest.values()].flat()
}

function identify({ state, done, used }: Configuration): string {
  return `${keyOf(state)} ${numbers(done)} ${numbers(used)}`
}

function numbers(actions: ReadonlySet<Numbered>): string {
  return [...actions]
    .map(({ number }) => number)
    .sort((one, other) => one - other)
    .join()
}

function without(actions: ReadonlySet<Numbered>, action: Numbered): ReadonlySet<Numbered> {
  const rest = new Set(actions)
  rest.delete(action)
  return rest
}

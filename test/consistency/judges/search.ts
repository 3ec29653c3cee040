/** The search of `linearizability.ts`: the configurations of a plant, event by event. */
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
export interface Numbered extends Action {
  readonly number: number
}

interface Configuration {
  readonly state: State
  /** Actions under way that have taken effect. */
  readonly done: ReadonlySet<Numbered>
  /** Open changes that have taken effect. */
  readonly used: ReadonlySet<Numbered>
}

export type Event =
  | { readonly at: number; readonly type: 'call' | 'return'; readonly action: Numbered }
  | { readonly at: number; readonly type: 'mark'; readonly mark: Mark }

/** Continues with one event after the other. A copy continues on its own. */
export class Search {
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

  /** Open changes have taken effect by now, or never will, except those that a service could still be at work on. */
  #mark(mark: Mark): void {
    this.#isCut = false
    const ends =
      mark.mark === 'restored'
        ? [{ ...NOTHING, state: contentIn(mark.plants, this.#id) }]
        : this.#reachable()
    this.#open = this.#open.filter(
      ({ call: { ended = mark.at } }) => mark.mark === 'settled' && ended >= mark.endedBefore,
    )
    const open = new Set(this.#open)
    this.#configurations = distinct(
      ends.map((each) => ({ ...each, used: each.used.intersection(open) })),
    )
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

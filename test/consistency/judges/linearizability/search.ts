/** The search of `linearizability.ts`: the configurations of a plant, event by event. */
import type { Mark } from '../../history.ts'
import { contentOf, IMPOSSIBLE, isSame, keyOf, type State } from '../../operations/register.ts'
import type { Action } from '../timelines.ts'
import {
  type Configuration,
  type Event,
  Found,
  isWithin,
  NONE,
  NOTHING,
  type Numbered,
  openAfter,
  type SearchOptions,
  usedByAll,
  without,
  withReads,
} from './configurations.ts'
import type { Observations } from './observations.ts'

/** The most configurations at a time, and the most that one return is explored with. */
const CONFIGURATIONS_MAX = 5_000

/** How many configurations a search can make at once, and for each event in the long run. */
const WORK_MAX = 200_000
const WORK_PER_EVENT = 200

/** The most sequences of open changes that are tried to make one action possible. */
const SEQUENCES_MAX = 5_000

/** Continues with one event after the other. A copy continues on its own. */
export class Search {
  readonly #id: bigint
  readonly #observations: Observations
  readonly #options: SearchOptions
  #configurations: readonly Configuration[] = [NOTHING]
  #pending = new Set<Numbered>()
  #open: ReadonlySet<Numbered> = NONE
  /** Those that cannot be told apart. */
  #kinds: readonly (readonly Numbered[])[] = []
  #place = 0
  /** Whether some configurations have been left out. */
  #isCut = false
  #work = 0

  readonly #kindOf = (open: Numbered) => this.#observations.kindOf(open, this.#place)

  constructor(id: bigint, observations: Observations, options: SearchOptions) {
    this.#id = id
    this.#observations = observations
    this.#options = options
  }

  copy(): Search {
    const copy = new Search(this.#id, this.#observations, this.#options)
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
    this.#place = event.place
    this.#work = Math.max(0, this.#work - WORK_PER_EVENT)
    this.#kinds = [...Map.groupBy(this.#open, this.#kindOf).values()]
    if (event.type === 'mark') this.#mark(event.mark)
    else if (event.type === 'call') this.#call(event.action)
    else this.#return(event.action)
    if (this.#configurations.length === 0) return this.#isCut ? 'undecided' : 'violated'
    return this.#work > WORK_MAX ? 'undecided' : 'possible'
  }

  /** Open changes have taken effect by now or never will, except those that a service could still be making. */
  #mark(mark: Mark): void {
    if (mark.mark === 'restored') {
      const plant = mark.plants.find(({ id }) => id === this.#id)
      this.#isCut = false
      this.#configurations = [{ ...NOTHING, state: plant && contentOf(plant) }]
      this.#open = NONE
      return
    }
    const open = openAfter(mark, this.#open)
    const ends = this.#reachable().map((each) => ({ ...each, used: each.used.intersection(open) }))
    this.#configurations = this.#distinct(ends)
    this.#open = open
  }

  /** All configurations that the actions that were called can have led to. */
  #reachable(): Configuration[] {
    return this.#explore(this.#configurations, (each) => ({
      kept: [each],
      next: [...this.#successors(each), ...this.#afterOpen(each)],
    }))
  }

  #call(action: Numbered): void {
    if (action.isOpen) {
      this.#open = new Set([...this.#open, action])
      return
    }
    this.#pending.add(action)
    if (action.step.isRead)
      this.#configurations = this.#configurations.map((each) => this.#read(each))
  }

  #return(action: Numbered): void {
    const results = this.#explore(this.#configurations, (each) =>
      each.done.has(action)
        ? { kept: [each], next: [] }
        : { kept: [], next: this.#successors(each) },
    )
    this.#pending.delete(action)
    this.#configurations = this.#distinct(results.map((each) => without(each, action)))
    this.#forget()
  }

  /** The configurations that are kept among those that some can lead to, the nearest first, each once. */
  #explore(
    from: readonly Configuration[],
    visit: (each: Configuration) => { kept: Configuration[]; next: Configuration[] },
    limit = CONFIGURATIONS_MAX,
  ): Configuration[] {
    const kept: Configuration[] = []
    let rest = from
    const found = new Found()
    while (rest.length > 0) {
      const visited = rest.map(visit)
      kept.push(...visited.flatMap((each) => each.kept))
      rest = this.#distinct(
        visited.flatMap((each) => each.next),
        found,
      )
      if (found.size <= limit && this.#work <= WORK_MAX) continue
      this.#isCut = true
      break
    }
    return kept
  }

  /** Removes the open changes that every configuration has used. */
  #forget(): void {
    const common = usedByAll(this.#configurations)
    if (common.size === 0) return
    this.#open = this.#open.difference(common)
    const forget = (each: Configuration) => ({ ...each, used: each.used.difference(common) })
    this.#configurations = this.#configurations.map(forget)
  }

  /** The configurations after one more action under way, made possible by open changes if necessary. */
  #successors(configuration: Configuration): Configuration[] {
    return [...this.#pending]
      .filter((action) => !configuration.done.has(action))
      .flatMap((action) => {
        const state = action.step.apply(configuration.state)
        const ready = state === IMPOSSIBLE ? this.#withOpen(configuration, action) : [configuration]
        return ready.flatMap((each) => this.#take(each, action))
      })
  }

  #take(from: Configuration, action: Numbered): Configuration[] {
    const state = action.step.apply(from.state) as State
    return this.#become(from, { ...from, state, done: new Set([...from.done, action]) })
  }

  /** Nothing if the state before is still needed. */
  #become(from: Configuration, to: Configuration): Configuration[] {
    const { name } = from.state ?? {}
    if (this.#options.looksAhead && name !== undefined && name !== to.state?.name) {
      const isOver = (action: Numbered) =>
        action.isOpen ? to.used.has(action) || !this.#open.has(action) : to.done.has(action)
      if (this.#observations.isLost(name, this.#place, isOver)) return []
    }
    return [this.#read({ ...to, state: this.#observations.simplify(to.state, this.#place) })]
  }

  /** Lets every read under way take effect that the state allows. */
  #read(configuration: Configuration): Configuration {
    this.#work += 1
    return withReads(configuration, this.#pending)
  }

  /** The configurations after open changes that make an action possible. */
  #withOpen(from: Configuration, action: Numbered): Configuration[] {
    const { step } = action
    const ready: Configuration[] = []
    return this.#explore(
      [from],
      (each) => {
        if (step.apply(each.state) !== IMPOSSIBLE) {
          ready.push(each)
          return { kept: [each], next: [] }
        }
        const open = this.#unused(each)
        if (!this.#observations.canLead(open, each.state, action)) return { kept: [], next: [] }
        const next = this.#afterOpen(each).filter(
          ({ state, used }) =>
            this.#observations.isUseful(state, each.state, action) &&
            // A change leaves the same state, whatever came before.
            (step.isRead || !ready.some((other) => isWithin(other.used, used, this.#kindOf))),
        )
        return { kept: [], next }
      },
      SEQUENCES_MAX,
    )
  }

  /** The configurations after one more open change that has an effect. */
  #afterOpen(from: Configuration): Configuration[] {
    return this.#unused(from).flatMap((change) => {
      const state = change.step.apply(from.state) as State
      if (isSame(state, from.state)) return []
      const used = this.#options.reusesOpen ? NONE : new Set([...from.used, change])
      return this.#become(from, { ...from, state, used })
    })
  }

  /** An open change of each kind that has not been used. */
  #unused({ used }: Configuration): Numbered[] {
    return this.#kinds.flatMap((same) => same.find((change) => !used.has(change)) ?? [])
  }

  /**
   * Each configuration once, without those that have used more open changes than another one.
   *
   * @param found those of before, which it extends
   */
  #distinct(configurations: readonly Configuration[], found = new Found()): Configuration[] {
    const simple = configurations.map((each) => ({
      ...each,
      state: this.#observations.simplify(each.state, this.#place),
    }))
    const { alternativesMax } = this.#options
    const { added, isCut } = found.add(simple, { alternativesMax, kindOf: this.#kindOf })
    this.#isCut ||= isCut
    return added
  }
}

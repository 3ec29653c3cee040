/** What can hold at one moment of a search, and which of several configurations are worth following. */
import type { Mark } from '../../history.ts'
import { IMPOSSIBLE, keyOf, type State } from '../../operations/register.ts'
import type { Action } from '../timelines.ts'

/** An action, numbered by its call. */
export interface Numbered extends Action {
  readonly number: number
}

/** `place` is its number in all events of the plant, in time. */
export type Event = { readonly place: number; readonly at: number } & (
  | { readonly type: 'call' | 'return'; readonly action: Numbered }
  | { readonly type: 'mark'; readonly mark: Mark }
)

export interface SearchOptions {
  /** How many of the configurations are kept that differ only in the open changes that they have used. */
  readonly alternativesMax: number
  /** Whether an open change can take effect more than once. If there is no order then, there is none at all. */
  readonly reusesOpen: boolean
  /** Whether a configuration ends as soon as it cannot lead to a later response. */
  readonly looksAhead: boolean
}

export interface Configuration {
  readonly state: State
  /** Actions under way that have taken effect. */
  readonly done: ReadonlySet<Numbered>
  /** Open changes that have taken effect. */
  readonly used: ReadonlySet<Numbered>
}

export const NONE: ReadonlySet<Numbered> = new Set()
export const NOTHING: Configuration = { state: undefined, done: NONE, used: NONE }

/** Equal for open changes that cannot be told apart. */
type KindOf = (open: Numbered) => string

/** The configurations that have been found. */
export class Found {
  readonly #byState = new Map<string, Configuration[]>()

  /** Number of configurations that differ in more than the open changes that they have used. */
  get size(): number {
    return this.#byState.size
  }

  /**
   * Adds configurations that are new, without those that have used more open changes than another one.
   *
   * @param options.alternativesMax see SearchOptions
   */
  add(
    configurations: readonly Configuration[],
    { alternativesMax, kindOf }: { readonly alternativesMax: number; readonly kindOf: KindOf },
  ): { readonly added: Configuration[]; readonly isCut: boolean } {
    const added: Configuration[] = []
    let isCut = false
    for (const each of configurations.toSorted((one, other) => one.used.size - other.used.size)) {
      const key = `${keyOf(each.state)} ${numbers(each.done)}`
      const others = this.#byState.get(key) ?? []
      if (others.some(({ used }) => isWithin(used, each.used, kindOf))) continue
      if (others.length >= alternativesMax) isCut = true
      else {
        this.#byState.set(key, [...others, each])
        added.push(each)
      }
    }
    return { added, isCut }
  }
}

/** Whether there are as many open changes of each kind in another set. */
export function isWithin(
  used: ReadonlySet<Numbered>,
  others: ReadonlySet<Numbered>,
  kindOf: KindOf,
): boolean {
  if (used.isSubsetOf(others)) return true
  if (used.size > others.size) return false
  const left = [...others].map(kindOf)
  return [...used].map(kindOf).every((kind) => {
    const index = left.indexOf(kind)
    if (index >= 0) left.splice(index, 1)
    return index >= 0
  })
}

function numbers(actions: ReadonlySet<Numbered>): string {
  return [...actions]
    .map(({ number }) => number)
    .sort((one, other) => one - other)
    .join()
}

/** The configuration once an action has returned. */
export function without(configuration: Configuration, action: Numbered): Configuration {
  const done = new Set(configuration.done)
  done.delete(action)
  return { ...configuration, done }
}

/** The open changes that can still take effect after a mark: a service could still be at work on them. */
export function openAfter(mark: Mark, open: ReadonlySet<Numbered>): ReadonlySet<Numbered> {
  const left = [...open].filter(
    ({ call: { ended = mark.at } }) => mark.mark === 'settled' && ended >= mark.endedBefore,
  )
  return new Set(left)
}

/** The open changes that every configuration has used. */
export function usedByAll([first, ...others]: readonly Configuration[]): ReadonlySet<Numbered> {
  const used = [...(first?.used ?? NONE)]
  return new Set(used.filter((open) => others.every((each) => each.used.has(open))))
}

/** The configuration after every read under way that its state allows. */
export function withReads(
  configuration: Configuration,
  pending: ReadonlySet<Numbered>,
): Configuration {
  const { state, done } = configuration
  const reads = [...pending].filter(
    (action) => action.step.isRead && !done.has(action) && action.step.apply(state) !== IMPOSSIBLE,
  )
  return reads.length === 0
    ? configuration
    : { ...configuration, done: new Set([...done, ...reads]) }
}

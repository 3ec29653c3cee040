/**
 * What responses tell about the contents of a plant. It keeps the search of `search.ts` short: contents that no response
 * tells apart from now on are one content, and a content that a response still needs cannot be overwritten.
 */
import { heightOf, LIGHTS, ownTags } from '../../operations/plants.ts'
import {
  type Content,
  contentOf,
  IMPOSSIBLE,
  keyOf,
  type State,
  versionOf,
} from '../../operations/register.ts'
import type { Event, Numbered } from './configurations.ts'

/** States that differ for every change without a condition. */
const PROBES: readonly State[] = [
  undefined,
  { name: '?' },
  { name: '?', tag: '?', height: -1, light: '?' },
]

interface Use {
  readonly action: Numbered
  /** The places of its call and of its return, which an open change does not have. */
  readonly called: number
  readonly returned: number
}

export class Observations {
  /** The actions that are possible only while the plant has the name. */
  readonly #needs = new Map<string, Use[]>()
  readonly #writers = new Map<string, Use[]>()
  /** The place of the last return that can tell a name from others. */
  readonly #last = new Map<string, number>()
  /** The places of restored backups. What was needed after one is not needed before. */
  readonly #restored: readonly number[]
  /** The names on whose versions open changes depend. */
  readonly #expectedByOpen = new Set<string>()
  readonly #contents: ReadonlyMap<string, Content>
  readonly #kinds = new Map<Numbered, { readonly exact: string; readonly anonymous: string }>()

  constructor(id: bigint, events: readonly Event[]) {
    const returns = new Map(
      events.flatMap((event) => (event.type === 'return' ? [[event.action, event.place]] : [])),
    )
    const uses = events.flatMap(({ place, ...event }) => {
      if (event.type !== 'call') return []
      const returned = returns.get(event.action) ?? Number.POSITIVE_INFINITY
      return [{ action: event.action, called: place, returned }]
    })
    this.#restored = events
      .filter((event) => event.type === 'mark' && event.mark.mark === 'restored')
      .map(({ place }) => place)
    this.#contents = contentsByVersion(id, uses)
    for (const use of uses) this.#add(use)
  }

  #add(use: Use): void {
    const { call, step, isOpen } = use.action
    const expected = this.#expected(use.action)
    const { plants = [], changes = [] } = call.arguments
    const own = [...plants, ...changes].find(({ id }) => id === step.id)?.name
    const named = isOpen
      ? [expected?.name]
      : [own, expected?.name, step.shows?.name, step.writes?.name, ...(step.accepted ?? [])]
    for (const name of named) {
      if (name === undefined) continue
      this.#last.set(name, Math.max(use.returned, this.#last.get(name) ?? 0))
    }
    const { name } = step.writes ?? {}
    if (name !== undefined) append(this.#writers, name, use)
    if (isOpen) {
      if (expected !== undefined) this.#expectedByOpen.add(expected.name)
      return
    }
    const [needed, ...others] = this.#namesBefore(use.action) ?? []
    if (needed !== undefined && others.length === 0) append(this.#needs, needed, use)
  }

  /** The content whose version a call expects or, if it is a read, shows. */
  #expected({ call: { arguments: given, answer }, step }: Numbered): State {
    const listed = given.changes?.find(({ id }) => id === step.id)
    const version =
      listed?.version ?? given.version ?? (step.isRead ? answer?.etag?.slice(1, -1) : undefined)
    return version === undefined ? undefined : this.#contents.get(version)
  }

  /** The names, undefined for no plant, of which the plant must have one before the action; undefined for any. */
  #namesBefore(action: Numbered): readonly (string | undefined)[] | undefined {
    const { accepted, isRead, shows, writes } = action.step
    if (accepted !== undefined) return accepted
    const { status = 0 } = action.call.answer ?? {}
    if (status < 300 || status === 304) {
      const expected = this.#expected(action)
      if (expected !== undefined) return [expected.name]
    }
    return writes === undefined && shows !== undefined && !isRead ? [shows.name] : undefined
  }

  /** Whether a state can be on the shortest way from another one to one that makes an action possible. */
  isUseful(to: State, from: State, action: Numbered): boolean {
    if (from === undefined || to === undefined) return true
    return (
      this.#expectedByOpen.has(to.name) ||
      this.#namesBefore(action)?.includes(to.name) === true ||
      action.step.apply(to) !== IMPOSSIBLE
    )
  }

  /** Whether one of some open changes can give the plant a name that makes an action possible. */
  canLead(open: readonly Numbered[], state: State, action: Numbered): boolean {
    const wanted = this.#namesBefore(action)
    if (wanted === undefined || (state !== undefined && wanted.includes(state.name))) return true
    return open.some(({ step }) => step.writes !== undefined && wanted.includes(step.writes.name))
  }

  /** A state that stands for all those that no response tells apart from a place on. Searches see the first word. */
  simplify(state: State, place: number): State {
    if (state === undefined || (this.#last.get(state.name) ?? -1) >= place) return state
    return withoutName(state)
  }

  /** Equal for open changes that cannot be told apart from a place on. */
  kindOf(open: Numbered, place: number): string {
    const kinds = this.#kinds.get(open) ?? this.#kindsOf(open)
    this.#kinds.set(open, kinds)
    const { name } = open.step.writes ?? {}
    return name === undefined || (this.#last.get(name) ?? -1) >= place
      ? kinds.exact
      : kinds.anonymous
  }

  #kindsOf(open: Numbered) {
    const { version } = open.call.arguments
    const probes = version === undefined ? PROBES : [this.#expected(open)]
    const results = probes.map((state) => open.step.apply(state) as State)
    const kind = (states: readonly State[]) => `${version} ${states.map(keyOf).join(' ')}`
    const simple = results.map((state) => state && withoutName(state))
    return { exact: kind(results), anonymous: kind(simple) }
  }

  /**
   * Whether a name that the plant no longer has is needed, although nobody can write it.
   *
   * @param isOver whether an action has taken effect; called for actions that were called by then and have not returned
   */
  isLost(name: string, place: number, isOver: (action: Numbered) => boolean): boolean {
    const end = this.#restored.find((each) => each >= place) ?? Number.POSITIVE_INFINITY
    const isLeft = ({ action, called, returned }: Use) =>
      returned >= place && called < end && (called > place || !isOver(action))
    return (
      this.#needs.get(name)?.some(isLeft) === true && this.#writers.get(name)?.some(isLeft) !== true
    )
  }
}

function contentsByVersion(id: bigint, uses: readonly Use[]): Map<string, Content> {
  const names = new Set(uses.map(({ action }) => action.step.writes?.name))
  const tags = [null, 'Tree', ...ownTags(id)]
  return new Map(
    [...names].flatMap((name) => {
      if (name === undefined) return []
      const own = [{}, ...[null, ...LIGHTS].map((light) => ({ light, height: heightOf(name) }))]
      const contents = own.flatMap((own) => tags.map((tag) => contentOf({ name, tag, ...own })))
      return contents.map((content) => [versionOf(content), content] as const)
    }),
  )
}

/** A content without what only its name tells. Searches see the first word. */
function withoutName({ name, height: _, ...others }: Content): Content {
  return { ...others, name: firstWord(name) }
}

function firstWord(name: string): string {
  return name.split(' ', 1)[0] ?? ''
}

function append<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}

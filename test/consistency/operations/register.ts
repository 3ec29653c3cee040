/**
 * The sequential specification of a plant: a register that holds its content, or nothing.
 *
 * An operation is described by the `Step`s that it takes. The judges look for an order of
 * the steps of a plant in which each accepts the state that the one before has left.
 */
import { contentVersion } from '../../../service/store/content-version.ts'

/** A plant without its id, as in the API. The other members are own fields, which some services have. */
export interface Content {
  readonly name: string
  readonly tag?: string | undefined
  /** A function of the name: see `heightOf`. */
  readonly height?: number | undefined
  readonly light?: string | undefined
}

/** A merge patch (RFC 7396). */
export type Patch = { readonly name?: string } & {
  readonly [Name in Exclude<keyof Content, 'name'>]?: Content[Name] | null
}

const MEMBERS = ['name', 'tag', 'height', 'light'] as const

/** The content of a plant; undefined if there is none. */
export type State = Content | undefined

/** Thrown if the response of a call is not possible in this state. */
export const IMPOSSIBLE = Symbol('impossible')

export interface Step {
  readonly id: bigint
  /** Whether it never changes the state. */
  readonly isRead: boolean
  /** The state after the step. An open step, whose response is unknown, accepts every state. */
  apply(state: State): State | typeof IMPOSSIBLE
  /** Whether the response does not tell if the step had an effect. */
  readonly isUncertain?: boolean
  /** The names of the plants in the states that it accepts, undefined for a missing plant; absent if it accepts others. */
  readonly accepted?: readonly (string | undefined)[]
  /** The name that the step gives the plant; undefined if it removes the plant; absent if it leaves the name. */
  readonly writes?: { readonly name: string | undefined }
  /** A content that the plant had during the call, if the response says so. */
  readonly shows?: Content | undefined
}

export interface Result {
  readonly status: number
  readonly next: State
}

/** A change of one plant, as a store without concurrency makes it. */
export type Change = (state: State) => Result

export function creating(plant: Content): Change {
  return (state) => {
    if (state === undefined) return { status: 200, next: plant }
    return { status: isSame(state, plant) ? 200 : 409, next: state }
  }
}

/** @param version that in If-Match */
export function updating(patch: Patch, version?: string): Change {
  return conditional(version, (plant) => ({ status: 200, next: contentOf({ ...plant, ...patch }) }))
}

/** The patch after which a plant has exactly this content. */
export function replacementOf(content: Patch): Patch {
  return { tag: null, height: null, light: null, ...content }
}

export function removing(version?: string): Change {
  return conditional(version, () => ({ status: 204, next: undefined }))
}

function conditional(version: string | undefined, change: (plant: Content) => Result): Change {
  return (state) => {
    if (state === undefined) return { status: 404, next: state }
    if (version !== undefined && version !== versionOf(state)) return { status: 412, next: state }
    return change(state)
  }
}

/**
 * The step of a change.
 *
 * @param status that of the response; undefined if the call is open
 * @param content that in the response, if it has one
 */
export function changeStep(
  id: bigint,
  change: Change,
  status: number | undefined,
  content?: Content,
): Step {
  const apply = (state: State) => {
    const result = change(state)
    if (status === undefined) return result.next
    const isPossible = result.status === status && (!content || isSame(result.next, content))
    return isPossible ? result.next : IMPOSSIBLE
  }
  return { id, isRead: status !== undefined && status >= 300, apply, shows: content }
}

/** The step of a read. */
export function readStep(id: bigint, holds: (state: State) => boolean): Step {
  return { id, isRead: true, apply: (state) => (holds(state) ? state : IMPOSSIBLE) }
}

/** The step of a read that shows the whole plant, or that there is none. */
export function exactReadStep(id: bigint, plant: State): Step {
  const step = readStep(id, (state) => isSame(state, plant))
  return { ...step, accepted: [plant?.name], shows: plant }
}

export function isSame(one: State, other: State): boolean {
  return MEMBERS.every((member) => one?.[member] === other?.[member])
}

/** The content of a plant without its id, or after a patch, whose nulls remove members. */
export function contentOf(plant: Patch): Content {
  const present = MEMBERS.flatMap((name) => {
    const value = plant[name] ?? undefined
    return value === undefined ? [] : [[name, value]]
  })
  return Object.fromEntries(present)
}

/** The version of a plant with this content. */
export function versionOf({ name, tag, height, light }: Content): string {
  const own = [
    height !== undefined && `"height":${height}`,
    light !== undefined && `"light":"${light}"`,
  ]
  const fields = own.filter((member) => member !== false).join()
  return contentVersion({
    name,
    ...(tag !== undefined && { tag }),
    ...(fields !== '' && { fields }),
  })
}

/** Identifies a state. */
export function keyOf(state: State): string {
  return state === undefined ? '' : JSON.stringify(MEMBERS.map((name) => state[name]))
}

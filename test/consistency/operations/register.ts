/**
 * The sequential specification of a plant: a register that holds its content, or nothing.
 *
 * An operation is described by the `Step`s that it takes. The judges look for an order of
 * the steps of a plant in which each accepts the state that the one before has left.
 */
import { contentVersion, type Plant, type PlantPatch } from '../../../service/plant-store.ts'

/** The content of a plant; undefined if there is none. */
export type State = Plant | undefined

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
  readonly shows?: Plant | undefined
}

export interface Result {
  readonly status: number
  readonly next: State
}

/** A change of one plant, as a store without concurrency makes it. */
export type Change = (state: State) => Result

export function creating(plant: Plant): Change {
  return (state) => {
    if (state === undefined) return { status: 200, next: plant }
    return { status: isSame(state, plant) ? 200 : 409, next: state }
  }
}

/** @param version that in If-Match */
export function updating(patch: PlantPatch, version?: string): Change {
  return conditional(version, ({ name, tag }) => {
    const next = { name: patch.name ?? name, tag: patch.tag === undefined ? tag : patch.tag }
    return {
      status: 200,
      next: typeof next.tag === 'string' ? { name: next.name, tag: next.tag } : { name: next.name },
    }
  })
}

export function removing(version?: string): Change {
  return conditional(version, () => ({ status: 204, next: undefined }))
}

function conditional(version: string | undefined, change: (plant: Plant) => Result): Change {
  return (state) => {
    if (state === undefined) return { status: 404, next: state }
    if (version !== undefined && version !== contentVersion(state))
      return { status: 412, next: state }
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
  content?: Plant,
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
  return one?.name === other?.name && one?.tag === other?.tag
}

/** The content of a plant without its id. */
export function contentOf({ name, tag }: Plant): Plant {
  return tag === undefined ? { name } : { name, tag }
}

/** Identifies a state. */
export function keyOf(state: State): string {
  return state === undefined ? '' : JSON.stringify([state.name, state.tag])
}

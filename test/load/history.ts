import { inspect, isDeepStrictEqual } from 'node:util'
import type { NewPlant, StoredPlant } from '../../service/plant-store.ts'

/** A plant, or undefined if there is none with its id. */
type State = StoredPlant | undefined

export type Kind = 'create' | 'update' | 'removal'

/** A change of one plant. */
export interface Change {
  readonly kind: Kind
  readonly plant: NewPlant
}

interface Outcome {
  readonly status: number
  readonly next: State
}

/** What the comparison of acknowledgements with the stored plants finds. */
export interface Verdict {
  /** Acknowledged changes that are not stored. */
  readonly lost: readonly string[]
  /** Responses that contradict each other, and plants that nothing explains. */
  readonly duplicated: readonly string[]
}

/**
 * All responses to changes, and therefore what must be stored. Each plant has one client, which sends one change at a
 * time, so the order is known. Contested plants have several clients, but are only created.
 */
export class History {
  /** What each plant can be. More than one state is possible only after a change whose outcome is unknown. */
  readonly #possible = new Map<bigint, readonly State[]>()
  readonly #contests = new Map<bigint, Contest>()
  readonly #contradictions: string[] = []
  acknowledged = 0

  /** The plants' last known content; undefined if the plant does not exist or its state is unknown. */
  get(id: bigint): State {
    const states = this.#statesOf(id)
    return states.length === 1 ? states[0] : undefined
  }

  /** Records a change that may have been made, and may be made later still. */
  unknown(change: Change): void {
    const before = this.#statesOf(change.plant.id)
    const after = before.map((state) => outcomeOf(change, state).next)
    this.#possible.set(change.plant.id, distinct([...before, ...after]))
  }

  answered(change: Change, status: number): void {
    const before = this.#statesOf(change.plant.id)
    const outcomes = before.map((state) => outcomeOf(change, state))
    const matching = outcomes.filter((outcome) => outcome.status === status)
    this.acknowledged += 1
    if (matching.length === 0)
      this.contradicted(`${status} for the ${brief(change)} of ${before.map(brief)}`)
    else this.#possible.set(change.plant.id, distinct(matching.map(({ next }) => next)))
  }

  /** Records the response to a create that other clients send with other contents. */
  contested(plant: NewPlant, status: number): void {
    const contest = this.#contests.get(plant.id) ?? new Contest()
    this.#contests.set(plant.id, contest)
    this.acknowledged += 1
    if (!contest.answered(plant, status))
      this.contradicted(`${status} for the contested ${brief(plant)}`)
  }

  compare(stored: readonly StoredPlant[]): Verdict {
    const found = new Map(stored.map((plant) => [plant.id, plant]))
    const lost: string[] = []
    for (const [id, states] of this.#possible) {
      const state = found.get(id)
      if (!states.some((each) => isDeepStrictEqual(each, state))) {
        lost.push(`${id} is ${brief(state)}, not ${states.map(brief).join(' or ')}`)
      }
    }
    for (const [id, { winner }] of this.#contests) {
      if (winner !== undefined && !isDeepStrictEqual(winner, found.get(id))) {
        lost.push(`${id} is ${brief(found.get(id))}, not ${brief(winner)}`)
      }
    }
    const unexplained = stored.filter(
      ({ id }) => !this.#possible.has(id) && !this.#contests.has(id),
    )
    const duplicated = [
      ...this.#contradictions,
      ...unexplained.map((plant) => `nobody created ${brief(plant)}`),
    ]
    return { lost, duplicated }
  }

  /** Records a response that does not agree with those before it. */
  contradicted(what: string): void {
    this.#contradictions.push(what)
  }

  #statesOf(id: bigint): readonly State[] {
    return this.#possible.get(id) ?? [undefined]
  }
}

/** Different plants that are created with one id, of which one wins. */
class Contest {
  winner: NewPlant | undefined
  readonly #refused = new Set<NewPlant>()

  /** @returns whether the response agrees with those before it */
  answered(plant: NewPlant, status: number): boolean {
    if (status === 409) {
      this.#refused.add(plant)
      return this.winner !== plant
    }
    if (status !== 200 || this.#refused.has(plant)) return false
    this.winner ??= plant
    return this.winner === plant
  }
}

function outcomeOf({ kind, plant }: Change, state: State): Outcome {
  if (kind === 'create') {
    const isStored = state === undefined || isDeepStrictEqual(state, plant)
    return isStored ? { status: 200, next: plant } : { status: 409, next: state }
  }
  if (state === undefined) return { status: 404, next: undefined }
  return kind === 'update' ? { status: 200, next: plant } : { status: 204, next: undefined }
}

function distinct(states: readonly State[]): State[] {
  return states.filter(
    (state, index) => states.findIndex((each) => isDeepStrictEqual(each, state)) === index,
  )
}

/** One line. */
function brief(what: State | Change): string {
  return what === undefined ? 'missing' : inspect(what, { breakLength: Number.POSITIVE_INFINITY })
}

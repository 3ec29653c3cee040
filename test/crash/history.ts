import { inspect, isDeepStrictEqual } from 'node:util'
import type { NewPlant, StoredPlant } from '../../service/plant-store.ts'
import { PlantModel } from '../stores/plant-model.ts'
import type { Change } from './changes.ts'

type State = StoredPlant | undefined

/** What the last change to a plant was that has been acknowledged, and what was there before it. */
interface Acknowledged {
  readonly method: Change['method']
  readonly before: State
}

/**
 * What was asked of a service, and so what may be in its file after a crash: what was acknowledged, and
 * what was not answered or not.
 *
 * A plant has one client, which asks for one change at a time, so their order is known. Contested plants
 * have many, but are only created.
 */
export class History {
  #model = new PlantModel()
  readonly #unanswered = new Map<bigint, Change>()
  #contests = new Map<bigint, Contest>()
  readonly last = new Map<bigint, Acknowledged>()
  /** How many answers there were, by method and status. */
  readonly answers: Record<string, number> = {}
  /** How many changes were not answered, and how many of those were made all the same. */
  readonly lost = { unanswered: 0, made: 0 }

  get acknowledged(): number {
    return Object.values(this.answers).reduce((sum, count) => sum + count, 0)
  }

  get(id: bigint): State {
    return this.#model.get(id)
  }

  sent(change: Change): void {
    this.#unanswered.set(change.id, change)
  }

  /** @throws Error if what was acknowledged before does not explain the answer */
  answered(change: Change, status: number): void {
    const before = this.#model.get(change.id)
    const expected = change.make(this.#model)
    if (status !== expected) {
      throw new Error(`${status}, not ${expected}: ${brief(change)} of ${brief(before)}`)
    }
    this.#unanswered.delete(change.id)
    this.#count(change.method, status)
    if (status < 300) this.last.set(change.id, { method: change.method, before })
  }

  /** The create of a plant that others create too. */
  contest(plant: NewPlant): Contest {
    const contest = this.#contests.get(plant.id) ?? new Contest()
    this.#contests.set(plant.id, contest)
    contest.sent.add(plant)
    return contest
  }

  contested(plant: NewPlant, status: number): void {
    this.contest(plant).answered(plant, status)
    this.#count('contested POST', status)
  }

  /** Why what is stored is not what a crash may leave: a line for each plant that is wrong. */
  faults(stored: readonly StoredPlant[]): string[] {
    const found = new Map(stored.map((plant) => [plant.id, plant]))
    const kept = this.#model.exportPlants().map(({ id }) => id)
    const ids = new Set([...kept, ...found.keys(), ...this.#contests.keys()])
    return [...ids].flatMap((id) => {
      const possible = this.#possible(id)
      const state = found.get(id)
      if (possible.some((each) => isDeepStrictEqual(each, state))) return []
      return [`${id} is ${brief(state)}, not ${possible.map(brief).join(' or ')}`]
    })
  }

  /** Goes on from what is stored, after a crash and without faults. */
  goOnFrom(stored: readonly StoredPlant[]): void {
    const model = new PlantModel(stored)
    for (const id of this.#unanswered.keys()) {
      this.lost.unanswered += 1
      if (!isDeepStrictEqual(model.get(id), this.#model.get(id))) {
        this.lost.made += 1
        this.last.delete(id)
      }
    }
    this.#model = model
    this.#unanswered.clear()
    this.#contests = new Map()
  }

  #possible(id: bigint): State[] {
    const contest = this.#contests.get(id)
    if (contest !== undefined) return contest.possible()
    const unanswered = this.#unanswered.get(id)
    const before = this.#model.get(id)
    if (unanswered === undefined) return [before]
    const after = new PlantModel(before ? [before] : [])
    unanswered.make(after)
    return [before, after.get(id)]
  }

  #count(method: string, status: number): void {
    const answer = `${method} ${status}`
    this.answers[answer] = (this.answers[answer] ?? 0) + 1
  }
}

/** Different plants that are created under one id. */
class Contest {
  readonly sent = new Set<NewPlant>()
  readonly #refused = new Set<NewPlant>()
  #winner: NewPlant | undefined

  answered(plant: NewPlant, status: number): void {
    if (status === 409) this.#refused.add(plant)
    else if (status !== 200) throw new Error(`${status} for a contested ${brief(plant)}`)
    else if (this.#winner !== undefined) throw new Error(`two are created under ${plant.id}`)
    else this.#winner = plant
  }

  possible(): State[] {
    if (this.#winner !== undefined) return [this.#winner]
    const candidates = [...this.sent].filter((plant) => !this.#refused.has(plant))
    // Whoever was refused was told that another one is stored.
    return this.#refused.size > 0 ? candidates : [undefined, ...candidates]
  }
}

/** In one line, without the whole of a long name. */
function brief(what: State | Change): string {
  const line = { breakLength: Number.POSITIVE_INFINITY, maxStringLength: 40 }
  return what === undefined ? 'missing' : inspect(what, line)
}

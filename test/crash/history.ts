import { inspect, isDeepStrictEqual } from 'node:util'
import type { NewPlant, StoredPlant } from '../../service/plant-store.ts'
import { each } from '../helpers/lists.ts'
import { type Change, creation } from '../load/changes.ts'
import { PlantModel } from '../stores/plant-model.ts'
import { LoggedChanges } from './logged-changes.ts'

type State = StoredPlant | undefined

/** The last acknowledged change of a plant, and its content before that. */
interface Acknowledged {
  readonly method: Change['method']
  readonly before: State
}

/**
 * All changes that were sent to a service, and therefore what its file can contain after a crash: every acknowledged
 * change, and possibly those that were not answered.
 *
 * Each plant has one client, which sends one change at a time, so the order is known. Contested plants have many
 * clients, but are only created.
 */
export class History {
  #model = new PlantModel()
  readonly #unanswered = new Map<bigint, Change>()
  /** The plants that each batch without a response would create. */
  readonly #unansweredBatches = new Map<readonly NewPlant[], readonly NewPlant[]>()
  #contests = new Map<bigint, Contest>()
  readonly last = new Map<bigint, Acknowledged>()
  /** What the feed must contain. */
  readonly logged = new LoggedChanges()
  /** Number of responses by method and status. */
  readonly answers: Record<string, number> = {}
  /** Number of changes without a response, and how many of them were stored nevertheless. */
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

  /** @throws Error if the response contradicts what was acknowledged before */
  answered(change: Change, status: number): void {
    const before = this.#model.get(change.id)
    const expected = change.make(this.#model)
    if (status !== expected) {
      throw new Error(`${status}, not ${expected}: ${brief(change)} of ${brief(before)}`)
    }
    this.#unanswered.delete(change.id)
    this.#count(change.method, status)
    this.logged.add(change.id, this.#model.get(change.id))
    if (status < 300) this.last.set(change.id, { method: change.method, before })
  }

  /** Records a batch, which changes nothing if one of its plants conflicts. */
  sentBatch(plants: readonly NewPlant[]): void {
    if (this.#model.copy().apply(each('create', plants), 'all-or-none').includes('conflict')) return
    const created = plants.filter(({ id }) => this.#model.get(id) === undefined)
    this.#unansweredBatches.set(plants, created)
    for (const plant of created) this.sent(creation(plant))
  }

  /** @throws Error if the response contradicts what was acknowledged before */
  answeredBatch(plants: readonly NewPlant[], status: number): void {
    const expected = this.#model.apply(each('create', plants), 'all-or-none').includes('conflict')
      ? 409
      : 200
    if (status !== expected) throw new Error(`${status}, not ${expected}, for a batch`)
    for (const { id } of this.#unansweredBatches.get(plants) ?? []) {
      this.#unanswered.delete(id)
      this.logged.add(id, this.#model.get(id))
    }
    this.#unansweredBatches.delete(plants)
    this.#count('batch POST', status)
  }

  /** Records a create that other clients send too. */
  contest(plant: NewPlant): Contest {
    const contest = this.#contests.get(plant.id) ?? new Contest()
    this.#contests.set(plant.id, contest)
    contest.sent.add(plant)
    return contest
  }

  contested(plant: NewPlant, status: number): void {
    this.contest(plant).answered(plant, status)
    if (status === 200) this.logged.add(plant.id, plant)
    this.#count('contested POST', status)
  }

  /** Describes each plant whose stored content a crash cannot explain. */
  faults(stored: readonly StoredPlant[]): string[] {
    const found = new Map(stored.map((plant) => [plant.id, plant]))
    const kept = this.#model.exportPlants().map(({ id }) => id)
    const ids = new Set([...kept, ...found.keys(), ...this.#contests.keys()])
    const partial = [...this.#unansweredBatches.values()].flatMap((created) => {
      const kept = created.filter(({ id }) => found.has(id)).length
      if (kept === 0 || kept === created.length) return []
      return [`${kept} of the ${created.length} plants of a batch are stored`]
    })
    const wrong = [...ids].flatMap((id) => {
      const possible = this.#possible(id)
      const state = found.get(id)
      if (possible.some((each) => isDeepStrictEqual(each, state))) return []
      return [`${id} is ${brief(state)}, not ${possible.map(brief).join(' or ')}`]
    })
    return [...partial, ...wrong]
  }

  /** Continues from the stored plants after a crash that lost nothing. */
  continueFrom(stored: readonly StoredPlant[]): void {
    const model = new PlantModel(stored)
    for (const id of this.#unanswered.keys()) {
      this.lost.unanswered += 1
      if (!isDeepStrictEqual(model.get(id), this.#model.get(id))) {
        this.lost.made += 1
        this.last.delete(id)
      }
    }
    this.logged.continueFrom(stored)
    this.#model = model
    this.#unanswered.clear()
    this.#unansweredBatches.clear()
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

/** Different plants that are created with one id. */
class Contest {
  readonly sent = new Set<NewPlant>()
  readonly #refused = new Set<NewPlant>()
  #winner: NewPlant | undefined

  answered(plant: NewPlant, status: number): void {
    if (status === 409) this.#refused.add(plant)
    else if (status !== 200) throw new Error(`${status} for the contested ${brief(plant)}`)
    else if (this.#winner !== undefined)
      throw new Error(`two creates of ${plant.id} were acknowledged`)
    else this.#winner = plant
  }

  possible(): State[] {
    if (this.#winner !== undefined) return [this.#winner]
    const candidates = [...this.sent].filter((plant) => !this.#refused.has(plant))
    // A client that was rejected was told that another plant is stored.
    return this.#refused.size > 0 ? candidates : [undefined, ...candidates]
  }
}

/** One line, with long names shortened. */
function brief(what: State | Change): string {
  const line = { breakLength: Number.POSITIVE_INFINITY, maxStringLength: 40 }
  return what === undefined ? 'missing' : inspect(what, line)
}

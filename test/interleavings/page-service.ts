/** A service in memory, whose requests and responses take effect when the schedule says so. */

import type { ChangeCounts, Plant, PlantChange } from '../../client/client.ts'
import { ConnectionError, ServiceError } from '../../client/client.ts'
import { members } from '../../core/members/members.gen.ts'
import { describePlants } from '../../core/members/plant.ts'
import type { PlantState } from '../../page/list/plant-list.ts'
import type { Schedule } from './schedules.ts'

const { hasSameContent, pickContent } = describePlants(members)

const NOTHING: ChangeCounts = { created: 0, changed: 0, removed: 0, unchanged: 0 }

/** The members of a plant. */
export const MEMBERS = ['name', 'tag'] as const

/** What somebody else does to a plant. */
export type Change = (typeof MEMBERS)[number] | 'plant' | 'removal'

/** What the network does with a request. */
export type Delay = 'none' | 'request lost' | 'response lost'

/** Watches the requests of a client. */
export interface Watcher {
  onRequest(id: bigint): void
  /** Called before a stored plant is changed or, without another one, deleted. */
  onOverwrite(stored: Plant, next: Plant | undefined): void
  onResponse(id: bigint): void
}

/** Plants whose names and tags are never used again. */
export class PageService {
  readonly plants = new Map<bigint, Plant>()
  /** Who made the last change of a plant. */
  readonly authors = new Map<bigint, 'page' | 'others'>()
  /** The names and tags that were ever stored. */
  readonly texts = new Set<string | undefined>()
  onChange: (state: PlantState) => void = () => {}
  readonly #schedule: Schedule
  readonly #nextDelay: () => Delay
  #texts = 0

  constructor(schedule: Schedule, nextDelay: () => Delay) {
    this.#schedule = schedule
    this.#nextDelay = nextDelay
  }

  newText(): string {
    return `text ${++this.#texts}`
  }

  /** @param change what to change. A plant that does not exist is created */
  changeByOthers(id: bigint, change: Change): void {
    const stored = this.plants.get(id)
    if (change !== 'removal') {
      const created = stored ?? { name: this.newText() }
      const changed = change === 'plant' ? MEMBERS : [change]
      const texts = changed.map((member) => [member, this.newText()])
      this.#put(id, { ...created, ...Object.fromEntries(texts) }, 'others')
    } else if (stored !== undefined) {
      this.#put(id, undefined, 'others')
    }
  }

  /**
   * What the page uses of a client.
   *
   * @param isLeft whether the person has left the page, so that its calls never resolve
   */
  client(watcher: Watcher, isLeft: () => boolean) {
    const { plants } = this
    const call = async <Result>(id: bigint, effect: () => Result): Promise<Result> => {
      if (isLeft()) return new Promise(() => {})
      watcher.onRequest(id)
      const [response] = await Promise.allSettled([this.#transfer(id, effect)])
      if (isLeft()) return new Promise(() => {})
      watcher.onResponse(id)
      if (response.status === 'rejected') throw response.reason
      return response.value
    }
    const make = (change: PlantChange): ChangeCounts => {
      const { op, id } = change
      const stored = plants.get(id)
      if (op === 'create') {
        if (hasSameContent(stored, change)) return { ...NOTHING, unchanged: 1 }
        if (stored !== undefined) throw new ServiceError('plant-exists', 'exists')
        this.#put(id, pickContent(change), 'page')
        return { ...NOTHING, created: 1 }
      }
      if (stored === undefined) throw new ServiceError('plant-not-found', 'not found')
      if (change.ifContent !== undefined && !hasSameContent(stored, change.ifContent))
        throw new ServiceError('plant-changed', 'changed')
      const next = op === 'remove' ? undefined : pickContent({ ...stored, ...change })
      if (hasSameContent(stored, next)) return { ...NOTHING, unchanged: 1 }
      watcher.onOverwrite(stored, next)
      this.#put(id, next, 'page')
      return { ...NOTHING, [op === 'remove' ? 'removed' : 'changed']: 1 }
    }
    return {
      changePlants: ([change]: [PlantChange]) => call(change.id, () => make(change)),
      async *plants({ id: [id] }: { id: [bigint] }) {
        const plant = await call(id, () => plants.get(id))
        if (plant !== undefined) yield { ...plant, id }
      },
    }
  }

  #put(id: bigint, plant: Plant | undefined, author: 'page' | 'others'): void {
    if (plant === undefined) this.plants.delete(id)
    else this.plants.set(id, plant)
    for (const member of MEMBERS) this.texts.add(plant?.[member])
    this.authors.set(id, author)
    this.onChange({ id, plant })
  }

  async #transfer<Result>(id: bigint, effect: () => Result): Promise<Result> {
    await this.#schedule.step(`request ${id}`)
    const delay = this.#nextDelay()
    if (delay === 'request lost') throw new ConnectionError('lost')
    const [response] = await Promise.allSettled([Promise.try(effect)])
    await this.#schedule.step(`response ${id}`)
    if (delay === 'response lost') throw new ConnectionError('lost')
    if (response.status === 'rejected') throw response.reason
    return response.value
  }
}

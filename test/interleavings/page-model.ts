/** A service in memory, a person who edits its plants with the drafts of a page, and somebody else who changes them. */
import { deepEqual, equal } from 'node:assert/strict'
import { ConnectionError, PlantStoreError } from '../../client/client.ts'
import { hasSameContent } from '../../contract/plant.ts'
import { type Draft, Drafts, type Saver } from '../../page/drafts/drafts.ts'
import type { PlantState } from '../../page/list/plant-list.ts'
import type { Plant, StoredPlant } from '../../service/plant-store.ts'
import { inTurn, type Schedule } from './schedules.ts'

/** What the network does with a request. */
export type Delay = 'none' | 'request lost' | 'response lost'

export interface Action {
  readonly id: bigint
  readonly kind:
    | ('edit' | 'add' | 'type' | 'close' | 'discard' | 'reload')
    | ('send' | 'sendAll' | 'delete' | 'keepMine' | 'keepEditing')
}

/** The id of the plant to add, which the person does not edit later. */
const ADDED = 3n

/** Plants whose names are never used again. */
class Service {
  readonly plants = new Map<bigint, Plant>()
  /** Who made the last change of a plant. */
  readonly authors = new Map<bigint, 'page' | 'others'>()
  /** The names that were ever stored. */
  readonly names = new Set<string>()
  onChange: (state: PlantState) => void = () => {}
  #names = 0

  newName(): string {
    return `name ${++this.#names}`
  }

  changeByOthers(id: bigint, isRemoval: boolean): void {
    const isStored = this.plants.has(id)
    if (isRemoval && !isStored) return
    this.put(id, isRemoval ? undefined : { name: this.newName() }, 'others')
  }

  put(id: bigint, plant: Plant | undefined, author: 'page' | 'others'): void {
    if (plant === undefined) this.plants.delete(id)
    else this.plants.set(id, plant)
    if (plant !== undefined) this.names.add(plant.name)
    this.authors.set(id, author)
    this.onChange({ id, plant })
  }
}

/** What was sent, and the plant that the person had seen, by its id. */
interface Sent {
  readonly drafts: Drafts
  readonly seen: Map<bigint, Plant | undefined>
}

/** The page, with what the person expects of it. */
export class Page {
  readonly service = new Service()
  drafts = new Drafts()
  readonly #schedule: Schedule
  readonly #nextDelay: () => Delay
  /** The plants that the table shows. */
  readonly #shown = new Map<bigint, Plant>()
  /** By the key of a draft: the plant that the person has seen. */
  readonly #seen = new Map<number, Plant | undefined>()
  /** By the key of a draft: the name that the person has typed. */
  readonly #typed = new Map<number, string>()
  /** By id: the name that was sent last. Undefined for a deletion. */
  readonly #sent = new Map<bigint, string | undefined>()
  #reported: Promise<void> = Promise.resolve()

  constructor(schedule: Schedule, delays: readonly Delay[]) {
    this.#schedule = schedule
    this.#nextDelay = inTurn(delays, 'none')
    for (const id of [1n, 2n]) {
      const plant = { name: this.service.newName() }
      this.service.plants.set(id, plant)
      this.#shown.set(id, plant)
    }
    this.service.onChange = (state) => this.#report(state)
  }

  act(kind: Action['kind'], id: bigint): void {
    const { drafts } = this
    const shown = this.#shown.get(id)
    const { open } = drafts
    const conflict = drafts.all.find(({ state }) => state === 'conflict')
    const isFree = shown !== undefined && id !== ADDED && drafts.of(id)?.state !== 'sending'
    const isAdded = drafts.all.some(({ typed }) => typed.id === String(ADDED))
    if (kind === 'edit' && isFree) drafts.edit({ ...shown, id })
    if (kind === 'add' && !isAdded) drafts.add(String(ADDED))
    if (kind === 'type' && open !== undefined && open.state !== 'sending') this.#type(open.key)
    if (kind === 'send' && open !== undefined && open.state !== 'conflict') this.#send(open)
    if (kind === 'sendAll') drafts.sendAll(this.#saver(drafts))
    if (kind === 'delete' && isFree) this.#delete({ ...shown, id })
    if (kind === 'close') drafts.close()
    if (kind === 'discard' && open !== undefined && open.state !== 'sending')
      this.#discard(open.key)
    if (kind === 'keepMine' && conflict && this.#isWanted(conflict)) this.#keepMine(conflict)
    if (kind === 'keepEditing' && conflict?.isDeletion === false) this.#keepEditing(conflict)
    if (kind === 'reload') this.#reload()
    this.#look()
  }

  /** Sends all drafts, in place of what others have stored. */
  resolveAll(): void {
    for (const draft of this.drafts.unsaved) {
      if (draft.state === 'conflict' && this.#isWanted(draft)) this.#keepMine(draft)
      else if (!this.#isWanted(draft)) this.#discard(draft.key)
      else this.#send(draft)
    }
  }

  checkEnd(): void {
    const { plants, authors } = this.service
    for (const [id, author] of authors) {
      if (author === 'page') equal(plants.get(id)?.name, this.#sent.get(id), `plant ${id}`)
    }
    deepEqual(this.#shown, plants, 'the table shows what is stored')
  }

  /** The person looks at the page. */
  #look(): void {
    const keys = new Set(this.drafts.all.map(({ key }) => key))
    // After a reload, another draft can have the key.
    for (const key of this.#seen.keys()) if (!keys.has(key)) this.#seen.delete(key)
    for (const { key, before, isDeletion } of this.drafts.all) {
      if (!this.#seen.has(key)) this.#seen.set(key, before)
      // Until something is typed, the editor shows what others store.
      else if (!this.#typed.has(key) && !isDeletion) this.#seen.set(key, before)
    }
    for (const [key, name] of this.#typed) {
      const draft = this.drafts.all.find((each) => each.key === key)
      if (draft === undefined) {
        this.#schedule.expect(this.service.names.has(name), true, `${name} is lost`)
        this.#typed.delete(key)
      } else {
        this.#schedule.expect(draft.typed.name, name, 'what was typed')
      }
    }
  }

  #type(key: number): void {
    const name = this.service.newName()
    this.#typed.set(key, name)
    this.drafts.type(key, { name })
  }

  /** Whether a draft is more than a plant that was opened. */
  #isWanted({ key, isDeletion }: Draft): boolean {
    return isDeletion || this.#typed.has(key)
  }

  #send(draft: Draft): void {
    if (!this.#isWanted(draft)) return
    const { key } = draft
    this.drafts.send(key, this.#saver(this.drafts))
  }

  #delete(plant: StoredPlant): void {
    const known = this.drafts.of(plant.id)
    if (known !== undefined) this.#typed.delete(known.key)
    this.drafts.delete(plant, this.#saver(this.drafts))
  }

  #discard(key: number): void {
    this.#typed.delete(key)
    this.drafts.discard(key)
  }

  #keepMine({ key, stored }: Draft): void {
    this.#seen.set(key, stored)
    this.drafts.keepMine(key, this.#saver(this.drafts))
  }

  #keepEditing({ key, stored, before }: Draft): void {
    // A plant to add needs another id, which the scenario does not have.
    if (before === undefined) {
      this.#discard(key)
    } else {
      this.#seen.set(key, stored)
      this.drafts.keepEditing(key)
    }
  }

  /** Leaves the page and comes back. What was in flight can still arrive. */
  #reload(): void {
    const json = this.drafts.toJson()
    this.drafts = new Drafts()
    if (json.includes('key')) this.drafts.load(json)
  }

  /** Reports changes to the page, in their order. */
  #report(change: PlantState): void {
    const { id, plant } = change
    this.#reported = this.#reported
      .then(() => this.#schedule.step(`report ${plant?.name}`))
      .then(() => {
        this.#show(change)
        const known = this.drafts.of(id)
        this.drafts.observe(change)
        const isDeleted = plant === undefined && known?.isDeletion === false
        this.#schedule.expect(isDeleted && !this.drafts.of(id), false, 'an edit is kept')
        this.#look()
      })
  }

  #show({ id, plant }: PlantState): void {
    if (plant === undefined) this.#shown.delete(id)
    else this.#shown.set(id, plant)
  }

  #saver(drafts: Drafts): Saver {
    return {
      client: this.#client(drafts) as unknown as Saver['client'],
      canRead: true,
      onSaved: (change, { isOvertaken }) => {
        if (drafts !== this.drafts) return
        if (!isOvertaken) this.#show(change)
        this.#look()
      },
    }
  }

  #client(drafts: Drafts) {
    const { service } = this
    const { plants } = service
    const sent: Sent = { drafts, seen: new Map() }
    const notFound = new PlantStoreError('plant-not-found', 'not found')
    const find = (id: bigint, ifMatch?: string): Plant => {
      const plant = plants.get(id)
      if (plant === undefined) throw notFound
      if (ifMatch !== undefined && ifMatch !== plant.name) {
        throw new PlantStoreError('plant-changed', 'changed')
      }
      return plant
    }
    return {
      createPlant: ({ id, ...plant }: StoredPlant) =>
        this.#call(sent, id, () => {
          const stored = plants.get(id)
          if (stored === undefined) service.put(id, plant, 'page')
          else if (!hasSameContent(stored, plant))
            throw new PlantStoreError('plant-exists', 'exists')
        }),
      getPlant: (id: bigint) =>
        this.#call(sent, id, () => {
          const plant = find(id)
          return { plant: { ...plant, id }, etag: plant.name }
        }),
      replacePlant: (id: bigint, plant: Plant, { ifMatch }: { ifMatch: string }) =>
        this.#call(sent, id, (seen) => {
          this.#checkSeen(find(id, ifMatch), seen)
          service.put(id, plant, 'page')
        }),
      deletePlant: (id: bigint, { ifMatch }: { ifMatch: string }) =>
        this.#call(sent, id, (seen) => {
          this.#checkSeen(find(id, ifMatch), seen)
          service.put(id, undefined, 'page')
        }),
    }
  }

  #checkSeen(stored: Plant, seen: Plant | undefined): void {
    const isSeen = hasSameContent(stored, seen)
    this.#schedule.expect(isSeen, true, `${stored.name} is saved over unseen`)
  }

  async #call<Result>(
    { drafts, seen }: Sent,
    id: bigint,
    effect: (seen: Plant | undefined) => Result,
  ): Promise<Result> {
    const sending = drafts.all.find(
      ({ state, typed }) => state === 'sending' && typed.id === String(id),
    )
    if (sending !== undefined && !seen.has(id)) {
      const { key, isDeletion, typed } = sending
      // A deletion is sent as soon as there is a draft of it.
      seen.set(id, this.#seen.has(key) ? this.#seen.get(key) : this.#shown.get(id))
      this.#sent.set(id, isDeletion ? undefined : typed.name)
    }
    await this.#schedule.step(`request ${id}`)
    const delay = this.#nextDelay()
    if (delay === 'request lost') throw new ConnectionError('lost')
    let respond: () => Result
    try {
      const result = effect(seen.get(id))
      respond = () => result
    } catch (error) {
      respond = () => {
        throw error
      }
    }
    await this.#schedule.step(`response ${id}`)
    if (delay === 'response lost') throw new ConnectionError('lost')
    return respond()
  }
}

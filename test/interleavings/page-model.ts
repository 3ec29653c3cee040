/** A page in which a person edits plants while somebody else changes them. */
import { deepEqual } from 'node:assert/strict'
import type { Plant, StoredPlant } from '../../client/client.ts'
import { type ChangeClient, save } from '../../page/changes/change-run.ts'
import type { Draft } from '../../page/drafts/draft.ts'
import { Drafts, type Saver } from '../../page/drafts/drafts.ts'
import type { PlantState } from '../../page/list/plant-list.ts'
import { Person } from './page-person.ts'
import { type Delay, PageService } from './page-service.ts'
import { inTurn, type Schedule } from './schedules.ts'

export interface Action {
  readonly id: bigint
  readonly kind:
    | ('edit' | 'add' | 'type' | 'typeTag' | 'close' | 'continue' | 'discard' | 'reload')
    | ('send' | 'sendAll' | 'resume' | 'delete' | 'keepMine' | 'keepStored' | 'keepEditing')
}

/** The id of the plant to add, which the person does not edit later. */
const ADDED = 3n

export class Page {
  readonly service: PageService
  drafts = new Drafts()
  readonly #schedule: Schedule
  readonly #person: Person
  /** The plants that the table shows. */
  readonly #shown = new Map<bigint, Plant>()
  #reported: Promise<void> = Promise.resolve()

  constructor(schedule: Schedule, delays: readonly Delay[]) {
    this.#schedule = schedule
    this.service = new PageService(schedule, inTurn(delays, 'none'))
    this.#person = new Person(schedule, this.service)
    for (const id of [1n, 2n]) {
      const plant = { name: this.service.newText(), tag: this.service.newText() }
      this.service.plants.set(id, plant)
      this.#shown.set(id, plant)
    }
    this.service.onChange = (state) => this.#report(state)
  }

  /** Does what the person wants, if the page offers it. */
  act(kind: Action['kind'], id: bigint): void {
    this.#person.look(this.drafts)
    if (kind === 'reload') this.#reload()
    else if (kind === 'edit' || kind === 'delete') this.#actOnRow(kind, id)
    else if (kind === 'keepMine' || kind === 'keepStored' || kind === 'keepEditing')
      this.#choose(kind)
    else if (kind === 'add') this.#add()
    else if (kind === 'sendAll' || kind === 'resume') this.#sendAll(kind)
    else if (kind === 'close') this.drafts.close()
    else if (kind === 'continue') this.#continue()
    else this.#actOnOpen(kind)
    this.#person.look(this.drafts)
  }

  /** Sends all drafts, which overwrite what others have stored. */
  resolveAll(): void {
    this.#person.look(this.drafts)
    for (const draft of this.drafts.unsaved) {
      if (!this.#person.isWanted(draft)) this.#discard(draft)
      else if (draft.state === 'conflict') this.#keep(draft, 'mine')
      else this.#send(draft)
    }
  }

  checkEnd(): void {
    this.#person.checkEnd()
    deepEqual(this.#shown, this.service.plants, 'the table shows what is stored')
  }

  #actOnRow(kind: 'edit' | 'delete', id: bigint): void {
    const { drafts } = this
    const shown = this.#shown.get(id)
    const isAdded = drafts.all.some(({ before, typed }) => !before && typed.id === String(id))
    if (shown === undefined || id === ADDED || isAdded) return
    const known = drafts.of(id)
    const plant = { ...shown, id }
    if (known?.state !== 'sending') {
      if (kind === 'edit') drafts.edit(plant)
      else this.#delete(plant, known)
    } else if (kind === 'delete' && known.isDeletion) {
      this.#delete(plant)
    }
  }

  #actOnOpen(kind: 'type' | 'typeTag' | 'send' | 'discard'): void {
    const { open } = this.drafts
    if (open === undefined) return
    if (kind === 'send') {
      // The Enter key can send a draft that is being sent.
      if (open.state !== 'conflict') this.#send(open)
    } else if (open.state !== 'sending') {
      if (kind === 'discard') this.#discard(open)
      else this.drafts.type(open.key, this.#person.type(open.key, kind === 'type' ? 'name' : 'tag'))
    }
  }

  #choose(kind: 'keepMine' | 'keepStored' | 'keepEditing'): void {
    const conflict = this.drafts.all.find(({ state }) => state === 'conflict')
    if (conflict === undefined) return
    if (kind === 'keepMine') {
      if (this.#person.isWanted(conflict)) this.#keep(conflict, 'mine')
    } else if (kind === 'keepStored') {
      this.#keep(conflict, 'stored')
    } else if (conflict.before === undefined) {
      // A plant to add needs another id, which the scenario does not have.
      this.#discard(conflict)
    } else if (!conflict.isDeletion) {
      this.#person.see(conflict)
      this.drafts.keepEditing(conflict.key)
    }
  }

  #add(): void {
    const isAdded = this.drafts.all.some(({ typed }) => typed.id === String(ADDED))
    if (!isAdded) this.drafts.add(String(ADDED))
  }

  /** Opens the first draft that the tray offers to continue. */
  #continue(): void {
    const { waiting } = this.drafts
    const draft = waiting.find(({ isDeletion, state }) => !isDeletion && state !== 'sending')
    if (draft !== undefined && draft.state !== 'conflict') this.drafts.openDraft(draft.key)
  }

  #send(draft: Draft): void {
    if (!this.#person.isWanted(draft)) return
    this.#person.finish(draft)
    this.drafts.send(draft.key, this.#saver())
  }

  #sendAll(kind: 'sendAll' | 'resume'): void {
    for (const draft of this.drafts.unsent) this.#person.finish(draft)
    this.drafts[kind](this.#saver())
  }

  /** @param known a draft that ends */
  #delete(plant: StoredPlant, known?: Draft): void {
    if (known !== undefined) this.#person.forget(known)
    this.drafts.delete(plant, this.#saver())
  }

  #discard(draft: Draft): void {
    this.#person.forget(draft)
    this.drafts.discard(draft.key)
  }

  /** Chooses in a conflict: the value of one member, or the whole plant. */
  #keep(draft: Draft, choice: 'mine' | 'stored'): void {
    const { key, contested: [member] = [] } = draft
    if (member !== undefined) {
      this.#person.seeMember(draft, member as 'name' | 'tag', choice)
      this.drafts.choose(key, member, choice, this.#saver())
    } else if (choice === 'stored') {
      this.#discard(draft)
    } else {
      this.#person.see(draft)
      this.#person.finish(draft)
      this.drafts.keepMine(key, this.#saver())
    }
  }

  /** Leaves the page and comes back. What was in flight can still arrive. */
  #reload(): void {
    const json = this.drafts.toJson()
    this.drafts = new Drafts()
    this.#person.leave()
    if (json.includes('key')) this.drafts.load(json)
  }

  /** Reports changes to the page, in their order, and late, so that the page often sends what others have overtaken. */
  #report(change: PlantState): void {
    this.#reported = this.#reported
      .then(() => this.#schedule.steps(3))
      .then(() => this.#schedule.step(`report ${change.plant?.name} ${change.plant?.tag}`))
      .then(() => {
        this.#show(change)
        this.#person.observe(this.drafts, change)
        this.#person.look(this.drafts)
      })
  }

  #show({ id, plant }: PlantState): void {
    if (plant === undefined) this.#shown.delete(id)
    else this.#shown.set(id, plant)
  }

  #saver(): Saver {
    const { drafts } = this
    const isLeft = () => drafts !== this.drafts
    const client = this.service.client(this.#person.watch(drafts), isLeft)
    return {
      save: (intent, isUncertain) =>
        save(client as unknown as ChangeClient, intent, true, isUncertain),
      onSaved: (change, { draft, isOvertaken }) => {
        this.#person.checkSaved(draft, change.plant, isOvertaken)
        if (!isOvertaken) this.#show(change)
        this.#person.look(this.drafts)
      },
    }
  }
}

/** What a person who edits plants has seen, typed and sent, and expects of the page and the service. */
import { equal } from 'node:assert/strict'
import type { Plant } from '../../client/client.ts'
import { members } from '../../core/members/members.gen.ts'
import { describePlants } from '../../core/members/plant.ts'
import type { Draft } from '../../page/drafts/draft.ts'
import type { Drafts } from '../../page/drafts/drafts.ts'
import type { PlantState } from '../../page/list/plant-list.ts'
import { MEMBERS, type PageService, type Watcher } from './page-service.ts'
import type { Schedule } from './schedules.ts'

const { hasSameContent } = describePlants(members)

type Name = (typeof MEMBERS)[number]

/** The values of some members. Undefined for a tag that is removed. */
type Values = Map<Name, string | undefined>

export class Person {
  readonly #schedule: Schedule
  readonly #service: PageService
  /** By the key of a draft: the plant that the person has seen. */
  readonly #seen = new Map<number, Plant | undefined>()
  /** By the key of a draft: what the person has typed. */
  readonly #typed = new Map<number, Values>()
  /** The keys of the drafts to send as they are. */
  readonly #finished = new Set<number>()
  /** By the key of a draft that is sent: what was last reported to be stored since then. */
  readonly #reported = new Map<number, Plant | undefined>()
  /** By id: what was sent last. Undefined for a deletion. */
  readonly #sent = new Map<bigint, Values | undefined>()
  /** The ids of the plants for which there is a request. */
  #inFlight = new Set<bigint>()

  constructor(schedule: Schedule, service: PageService) {
    this.#schedule = schedule
    this.#service = service
  }

  /** Looks at the page. */
  look({ all }: Drafts): void {
    const keys = new Set(all.map(({ key }) => key))
    // After a reload, another draft can have the key.
    for (const key of this.#seen.keys()) if (!keys.has(key)) this.#seen.delete(key)
    for (const draft of all) {
      if (draft.before === undefined || draft.isDeletion || !this.#seen.has(draft.key)) {
        if (!this.#seen.has(draft.key)) this.#seen.set(draft.key, draft.before)
      } else {
        this.#lookAtForm(draft)
      }
    }
    for (const [key, values] of this.#typed) {
      const draft = all.find((each) => each.key === key)
      for (const [name, value] of values) {
        if (draft !== undefined) this.#schedule.expect(draft.typed[name], value, 'what was typed')
        else this.#expect(this.#service.texts.has(value), `${value} is lost`)
      }
      if (draft === undefined) this.#typed.delete(key)
    }
  }

  /** In other fields than those that were typed into, the form shows what others store. */
  #lookAtForm({ key, typed, state, before, stored, contested = [] }: Draft): void {
    const seen = { ...this.#seen.get(key) }
    const mine = this.#typed.get(key)
    for (const name of MEMBERS) if (!mine?.has(name)) Object.assign(seen, { [name]: typed[name] })
    this.#seen.set(key, seen as Plant)
    if (state !== 'conflict' || before === undefined || stored === undefined) return
    this.#expect(contested.length > 0, 'it asks for something')
    for (const name of contested as Name[]) {
      const isMine = mine?.has(name) === true && mine.get(name) !== stored[name]
      this.#expect(isMine && stored[name] !== seen[name], `only others have changed the ${name}`)
    }
  }

  /** Looks at the stored plant in a conflict. */
  see({ key, stored, before, isDeletion, typed }: Draft): void {
    this.#seen.set(key, stored)
    this.#finished.delete(key)
    if (isDeletion || (before !== undefined && stored !== undefined)) return
    // All of a plant to add replaces the stored one.
    const mine = MEMBERS.filter((name) => stored === undefined || typed[name] !== stored[name])
    this.#typed.set(key, new Map(mine.map((name) => [name, typed[name]])))
  }

  /** Chooses the value of one member in a conflict, which sends the draft if it was the last one. */
  seeMember({ key, stored, typed }: Draft, name: Name, choice: 'mine' | 'stored'): void {
    this.#seen.set(key, { ...(this.#seen.get(key) as Plant), [name]: stored?.[name] })
    const mine = this.#typed.get(key)
    if (choice === 'mine') mine?.set(name, typed[name])
    else for (const values of [mine, this.#sent.get(BigInt(typed.id))]) values?.delete(name)
    if (mine?.size === 0) this.#typed.delete(key)
    this.#finished.add(key)
  }

  /** @returns what to type */
  type(key: number, name: Name): { readonly [Each in Name]?: string } {
    const text = this.#service.newText()
    const values = this.#typed.get(key) ?? new Map()
    this.#typed.set(key, values.set(name, text))
    this.#finished.delete(key)
    return { [name]: text }
  }

  /** Whether a draft is more than a plant that was opened. */
  isWanted({ key, isDeletion }: Draft): boolean {
    return isDeletion || this.#typed.has(key)
  }

  finish({ key }: Draft): void {
    this.#finished.add(key)
  }

  /** No longer wants a draft. It can have been saved if a response was lost. */
  forget({ key, typed }: Draft): void {
    this.#typed.delete(key)
    this.#sent.delete(BigInt(typed.id))
  }

  /** Leaves the page. */
  leave(): void {
    this.#finished.clear()
    this.#reported.clear()
    this.#inFlight = new Set()
  }

  /** Watches the requests of drafts that are sent one after the other. */
  watch(drafts: Drafts): Watcher {
    const inFlight = this.#inFlight
    let latest: Draft | undefined
    let seen: Plant | undefined
    let mine: Values | undefined
    return {
      onRequest: (id) => {
        this.#expect(!inFlight.has(id), 'a draft is sent once at a time')
        inFlight.add(id)
        const draft = drafts.all.find((each) => isOf(each, id) && each.state === 'sending')
        if (draft === undefined || draft === latest) return
        const isRepeated = draft.key === latest?.key
        latest = draft
        // The service was away, and is back. What was reported before is older than the response.
        if (isRepeated) {
          this.#reported.delete(draft.key)
          return
        }
        seen = this.#send(draft, id)
        mine = this.#sent.get(id)
      },
      onOverwrite: (stored, next) => {
        if (next === undefined) {
          this.#expect(hasSameContent(stored, seen), `${stored.name} is deleted unseen`)
        }
        for (const name of MEMBERS) {
          if (next === undefined || next[name] === stored[name]) continue
          this.#expect(mine?.has(name) === true, `the ${name} of others is lost`)
          this.#schedule.expect(next[name], mine?.get(name), 'what was typed is stored')
          this.#schedule.expect(stored[name], seen?.[name], 'what is saved over was seen')
        }
      },
      onResponse: (id) => inFlight.delete(id),
    }
  }

  /** @returns what the person has seen */
  #send({ key, isDeletion, before }: Draft, id: bigint): Plant | undefined {
    this.#expect(isDeletion || this.#finished.has(key), 'nothing is sent while it is typed')
    this.#reported.delete(key)
    this.#sent.set(id, isDeletion ? undefined : new Map(this.#typed.get(key)))
    // A deletion is sent before the person sees its draft.
    return this.#seen.has(key) ? this.#seen.get(key) : before
  }

  /** Shows a reported change to the drafts. */
  observe(drafts: Drafts, { id, plant }: PlantState): void {
    const known = drafts.of(id)
    const sent = drafts.all.find(
      (each) => isOf(each, id) && (each.state === 'sending' || each.state === 'unsent'),
    )
    const isMine = sent !== undefined && this.#isSaved(sent, plant)
    let isLater = false
    if (sent?.state === 'sending') {
      isLater = this.#reported.has(sent.key) && this.#isSaved(sent, this.#reported.get(sent.key))
      this.#reported.set(sent.key, plant)
    }
    const isRecognized = drafts.observe({ id, plant }) === (isMine && !isLater)
    this.#expect(isRecognized, 'a change that was sent is recognized')
    const isKept = ({ key }: Draft) => drafts.all.some((each) => each.key === key)
    if (isMine && sent.state === 'unsent') this.#expect(!isKept(sent), 'a saved draft ends')
    if (plant !== undefined || known === undefined || known.state === 'sending' || isMine) return
    this.#expect(isKept(known) !== known.isDeletion, 'an edit is kept, and a deletion ends')
  }

  /** Whether what is stored has what was typed. */
  #isSaved({ key, isDeletion, before, typed }: Draft, plant: Plant | undefined): boolean {
    if (isDeletion || plant === undefined) return isDeletion && plant === undefined
    if (before === undefined) return MEMBERS.every((name) => plant[name] === typed[name])
    return [...(this.#typed.get(key) ?? [])].every(([name, value]) => plant[name] === value)
  }

  checkSaved({ key }: Draft, plant: Plant | undefined, isOvertaken: boolean): void {
    const isLater = this.#reported.has(key) && !hasSameContent(this.#reported.get(key), plant)
    this.#schedule.expect(isOvertaken, isLater, 'whether somebody else has changed it since')
  }

  /** Checks that what was sent last is stored, unless others have changed it later. */
  checkEnd(): void {
    const { plants, authors } = this.#service
    for (const [id, values] of this.#sent) {
      if (authors.get(id) !== 'page') continue
      const plant = plants.get(id)
      if (values === undefined) equal(plant, undefined, `plant ${id}`)
      else for (const [name, value] of values) equal(plant?.[name], value, `plant ${id}`)
    }
  }

  #expect(isMet: boolean, message: string): void {
    this.#schedule.expect(isMet, true, message)
  }
}

function isOf({ typed }: Draft, id: bigint): boolean {
  return typed.id === String(id)
}

/** What a person who edits plants has seen, typed and sent, and expects of the page and the service. */
import { equal } from 'node:assert/strict'
import type { Plant } from '../../client/client.ts'
import { hasSameContent } from '../../contract/plant.ts'
import type { Draft, Drafts } from '../../page/drafts/drafts.ts'
import type { PlantState } from '../../page/list/plant-list.ts'
import type { PageService, Watcher } from './page-service.ts'
import type { Schedule } from './schedules.ts'

export class Person {
  readonly #schedule: Schedule
  readonly #service: PageService
  /** By the key of a draft: the plant that the person has seen. */
  readonly #seen = new Map<number, Plant | undefined>()
  /** By the key of a draft: the name that the person has typed. */
  readonly #typed = new Map<number, string>()
  /** The keys of the drafts to send as they are. */
  readonly #finished = new Set<number>()
  /** By the key of a draft that is sent: whether the last change reported since then is that of somebody else. */
  readonly #isOvertaken = new Map<number, boolean>()
  /** By id: the name that was sent last. Undefined for a deletion. */
  readonly #sent = new Map<bigint, string | undefined>()
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
    for (const { key, before, isDeletion } of all) {
      if (!this.#seen.has(key)) this.#seen.set(key, before)
      // Until something is typed, the editor shows what others store.
      else if (!this.#typed.has(key) && !isDeletion) this.#seen.set(key, before)
    }
    for (const [key, name] of this.#typed) {
      const draft = all.find((each) => each.key === key)
      if (draft === undefined) {
        this.#schedule.expect(this.#service.names.has(name), true, `${name} is lost`)
        this.#typed.delete(key)
      } else {
        this.#schedule.expect(draft.typed.name, name, 'what was typed')
      }
    }
  }

  /** Looks at the stored plant in a conflict. */
  see({ key, stored }: Draft): void {
    this.#seen.set(key, stored)
    this.#finished.delete(key)
  }

  /** @returns the name to type */
  type(key: number): string {
    const name = this.#service.newName()
    this.#typed.set(key, name)
    this.#finished.delete(key)
    return name
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
    this.#isOvertaken.clear()
    this.#inFlight = new Set()
  }

  /** Watches the requests of drafts that are sent one after the other. */
  watch(drafts: Drafts): Watcher {
    const inFlight = this.#inFlight
    let latest: Draft | undefined
    let seen: Plant | undefined
    return {
      onRequest: (id) => {
        this.#expect(!inFlight.has(id), 'a draft is sent once at a time')
        inFlight.add(id)
        const draft = drafts.all.find((each) => isOf(each, id) && each.state === 'sending')
        if (draft === undefined || draft.key === latest?.key) return
        latest = draft
        seen = this.#send(draft, id)
      },
      onOverwrite: (stored) => {
        this.#expect(hasSameContent(stored, seen), `${stored.name} is saved over unseen`)
      },
      onResponse: (id) => inFlight.delete(id),
    }
  }

  /** @returns what the person has seen */
  #send({ key, isDeletion, typed, before }: Draft, id: bigint): Plant | undefined {
    this.#expect(isDeletion || this.#finished.has(key), 'nothing is sent while it is typed')
    this.#isOvertaken.set(key, false)
    this.#sent.set(id, isDeletion ? undefined : typed.name)
    // A deletion is sent before the person sees its draft.
    return this.#seen.has(key) ? this.#seen.get(key) : before
  }

  /** Shows a reported change to the drafts. */
  observe(drafts: Drafts, { id, plant }: PlantState): void {
    const known = drafts.of(id)
    const sent = drafts.all.find(
      (each) => isOf(each, id) && (each.state === 'sending' || each.state === 'unsent'),
    )
    const isMine = sent !== undefined && hasSameContent(plant, wantedOf(sent))
    if (sent?.state === 'sending') this.#isOvertaken.set(sent.key, !isMine)
    this.#expect(drafts.observe({ id, plant }) === isMine, 'a change that was sent is recognized')
    const isKept = ({ key }: Draft) => drafts.all.some((each) => each.key === key)
    if (isMine && sent.state === 'unsent') this.#expect(!isKept(sent), 'a saved draft ends')
    if (plant !== undefined || known === undefined || known.state === 'sending' || isMine) return
    this.#expect(isKept(known) !== known.isDeletion, 'an edit is kept, and a deletion ends')
  }

  checkSaved({ key }: Draft, isOvertaken: boolean): void {
    const expected = this.#isOvertaken.get(key)
    this.#schedule.expect(isOvertaken, expected, 'whether somebody else has changed it since')
  }

  /** Checks that what was sent last is stored, unless others have changed it later. */
  checkEnd(): void {
    const { plants, authors } = this.#service
    for (const [id, name] of this.#sent) {
      if (authors.get(id) === 'page') equal(plants.get(id)?.name, name, `plant ${id}`)
    }
  }

  #expect(isMet: boolean, message: string): void {
    this.#schedule.expect(isMet, true, message)
  }
}

function isOf({ typed }: Draft, id: bigint): boolean {
  return typed.id === String(id)
}

/** What is to become of the plant. */
function wantedOf({ isDeletion, typed }: Draft): Plant | undefined {
  return isDeletion ? undefined : { name: typed.name }
}

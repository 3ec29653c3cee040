import { type Plant, parseJson, type StoredPlant, toJson } from '../../client/client.ts'
import { INT64_MAX, INT64_MIN } from '../../core/json/int64.ts'
import type { SaveResult } from '../changes/change-run.ts'
import type { Intent } from '../changes/intent.ts'
import { explain, isRejected, isTransient } from '../errors/error-text.ts'
import { explainField } from '../errors/field-error.ts'
import { blank, findInvalid, type Typed, typedOf } from '../forms/typed.ts'
import { parseId } from '../list/plant-id.ts'
import type { PlantState } from '../list/plant-list.ts'
import { hasSameContent, int64Fields, pickContent } from '../model/current-members.ts'
import { Model } from '../model/model.ts'
import {
  chooseValue,
  conflictWith,
  type Draft,
  isCarriedOut,
  isChanged,
  NO_CONFLICT,
  NO_PROBLEM,
  wantedOf,
} from './draft.ts'

/** Sends drafts. */
export interface Saver {
  /**
   * Carries out one intent.
   *
   * @param isUncertain whether an earlier attempt may have carried it out
   */
  save(intent: Intent, isUncertain: boolean): Promise<SaveResult>
  /** Called once a change is saved. */
  onSaved(change: PlantState, saved: Saved): void
}

export interface Saved {
  readonly draft: Draft
  /** Takes the change back. Undefined if nothing had to be changed, or perhaps not. */
  readonly undo: Intent | undefined
  /** Whether it was being edited. */
  readonly wasOpen: boolean
  /** Whether somebody else has changed the plant since. */
  readonly isOvertaken: boolean
}

/** Changes that are not saved yet. They outlive the session in which they were typed. */
export class Drafts extends Model {
  #drafts: readonly Draft[] = []
  #open: number | undefined
  #latestKey = 0
  /** How often all were discarded. */
  #cleared = 0
  /** How often a lost connection was restored. */
  #reconnects = 0
  /** By the key of a draft that is being sent: what was last reported to be stored. */
  readonly #reported = new Map<number, Plant | undefined>()

  get all(): readonly Draft[] {
    return this.#drafts
  }

  /** The one that is being edited. */
  get open(): Draft | undefined {
    return this.#drafts.find(({ key }) => key === this.#open)
  }

  /** Those that would be lost with the page. */
  get unsaved(): readonly Draft[] {
    return this.#drafts.filter((draft) => draft.state !== 'editing' || isChanged(draft))
  }

  /** Those that wait for the person, except the one that is being edited. */
  get waiting(): readonly Draft[] {
    return this.unsaved.filter(
      ({ key, state, hasFailed }) => key !== this.#open && (state !== 'sending' || hasFailed),
    )
  }

  /** Those that can be sent again as they are. */
  get unsent(): readonly Draft[] {
    return this.#drafts.filter(({ state }) => state === 'unsent')
  }

  find(key: number): Draft | undefined {
    return this.#drafts.find((draft) => draft.key === key)
  }

  of(id: bigint): Draft | undefined {
    return this.#drafts.find(({ before }) => before?.id === id)
  }

  /** Begins, or continues, to edit a plant. */
  edit(plant: StoredPlant): void {
    const draft = this.of(plant.id)
    const isContinued = draft?.isDeletion === false
    if (draft?.isDeletion) this.discard(draft.key)
    this.openDraft(isContinued ? draft.key : this.#add({ typed: typedOf(plant), before: plant }))
  }

  /** Begins, or continues, to describe a new plant. */
  add(id: string): void {
    const draft = this.#drafts.find(({ before, state }) => !before && state === 'editing')
    this.openDraft(draft?.key ?? this.#add({ typed: blank(id), before: undefined }))
  }

  openDraft(key: number): void {
    if (key !== this.#open) this.close()
    this.#open = key
    this.changed()
  }

  /** Stops editing. What was typed is kept. */
  close(): void {
    const { open } = this
    this.#open = undefined
    if (open?.state === 'editing' && !isChanged(open)) this.discard(open.key)
    this.changed()
  }

  discard(key: number): void {
    if (this.#open === key) this.#open = undefined
    this.#drafts = this.#drafts.filter((draft) => draft.key !== key)
    this.changed()
  }

  /** Discards all. What is being sent may still be saved, but is not reported. */
  clear(): void {
    this.#cleared += 1
    for (const { key } of this.#drafts) this.discard(key)
  }

  toJson(): string {
    return toJson({ drafts: this.#drafts, open: this.#open })
  }

  /** Replaces all by those that `toJson` has returned. */
  load(json: string): void {
    const stash = parseJson(json, int64Fields) as { drafts: readonly Draft[]; open?: number }
    // A page that is left does not learn whether what it was sending is saved.
    const drafts = stash.drafts.map((each) => ({
      ...each,
      // An own field can have the name, and be an int64.
      key: Number(each.key),
      ...(each.state === 'sending' && ({ state: 'unsent', hasFailed: true } as const)),
    }))
    this.#drafts = drafts
    this.#open = stash.open === undefined ? undefined : Number(stash.open)
    this.#latestKey = Math.max(...drafts.map(({ key }) => key))
    this.changed()
  }

  type(key: number, typed: Partial<Typed>): void {
    const draft = this.find(key)
    if (draft === undefined) return
    const all = { ...draft.typed, ...typed }
    // A conflict stays until the person has chosen. A plant to add has chosen with another id.
    const isConflict = draft.state === 'conflict' && all.id === draft.typed.id
    const state = isConflict ? 'conflict' : 'editing'
    this.#update(key, { typed: all, state, isUndo: false, ...NO_PROBLEM })
  }

  /** Deletes a plant. */
  async delete(plant: StoredPlant, saver: Saver): Promise<void> {
    const draft = this.of(plant.id)
    if (draft?.isDeletion && draft.state === 'sending') return
    if (draft !== undefined) this.discard(draft.key)
    const { id } = plant
    await this.carryOut({ id, before: pickContent(plant), after: undefined }, saver)
  }

  /** Sends what nobody has typed. */
  async carryOut(
    { id, before, after }: Intent,
    saver: Saver,
    changes: Partial<Draft> = {},
  ): Promise<void> {
    const typed = typedOf({ name: '', ...(after ?? before), id })
    const isDeletion = after === undefined
    const key = this.#add({ typed, before: before && { ...before, id }, isDeletion, ...changes })
    await this.send(key, saver)
  }

  /** In a conflict, saves the draft in place of the stored plant. */
  keepMine(key: number, saver: Saver): Promise<void> {
    const stored = this.find(key)?.stored
    this.#update(key, { before: stored, state: 'editing', ...NO_CONFLICT })
    return this.send(key, saver)
  }

  /** In a conflict over members, chooses the value of one. The last choice sends the draft, if it still changes anything. */
  async choose(key: number, name: string, choice: 'mine' | 'stored', saver: Saver): Promise<void> {
    const draft = this.find(key)
    if (draft?.before === undefined || draft.stored === undefined) return
    this.#update(key, chooseValue(draft, draft.before, draft.stored, name, choice))
    const chosen = this.find(key)
    if (chosen?.state !== 'editing') return
    if (isChanged(chosen)) await this.send(key, saver)
    else this.discard(key)
  }

  /** In a conflict, goes on with the draft, now that the person has seen the stored plant. */
  keepEditing(key: number): void {
    const draft = this.find(key)
    if (draft === undefined) return
    const { before, stored, typed } = draft
    const isAddition = before === undefined
    this.#update(key, {
      before: isAddition ? undefined : stored,
      // A plant to add needs another one.
      typed: isAddition ? { ...typed, id: '' } : typed,
      state: 'editing',
      ...NO_CONFLICT,
    })
  }

  async sendAll(saver: Saver): Promise<void> {
    // One after the other, because a service that comes back is busy.
    for (const { key } of this.unsent) {
      // The person may have continued to edit this one in the meantime.
      if (this.find(key)?.state === 'unsent') await this.send(key, saver)
    }
  }

  /** Sends what could not be sent, now that the service is back. Requests in flight that fail later are repeated too. */
  async resume(saver: Saver): Promise<void> {
    this.#reconnects += 1
    await this.sendAll(saver)
  }

  async send(key: number, saver: Saver): Promise<void> {
    const draft = this.find(key)
    if (draft === undefined || draft.state === 'sending') return
    const id = parseId(draft.typed.id)
    if (id === undefined) {
      const problem = `The id must be a whole number from ${INT64_MIN} to ${INT64_MAX}.`
      this.#update(key, { state: 'refused', problem, problemField: 'id' })
      return
    }
    const invalid = draft.isDeletion ? undefined : findInvalid(draft.typed)
    if (invalid !== undefined) {
      const { name: problemField, problem } = invalid
      this.#update(key, { state: 'refused', problem, problemField })
      return
    }
    const after = wantedOf(draft)
    const [cleared, reconnects] = [this.#cleared, this.#reconnects]
    this.#reported.delete(key)
    this.#update(key, { state: 'sending', ...NO_PROBLEM })
    try {
      const intent = { id, before: draft.before, after }
      // The response of an earlier attempt may have been lost.
      const isUncertain = draft.state === 'unsent'
      const outcome = await saver.save(intent, isUncertain)
      if (outcome.kind === 'conflict') {
        // What the person decides now can be taken back itself.
        const decision = { hasFailed: true, isUndo: false }
        this.#update(key, { ...decision, ...conflictWith(draft, outcome.stored) })
        return
      }
      if (cleared !== this.#cleared) return
      const { plant, undo } = outcome
      const wasOpen = this.#open === key
      this.discard(key)
      const isOvertaken = this.#reported.has(key) && !hasSameContent(this.#reported.get(key), plant)
      saver.onSaved({ id, plant }, { draft, undo, wasOpen, isOvertaken })
    } catch (error) {
      // A rejected token is replaced by signing in again.
      const state = isTransient(error) || isRejected(error) ? 'unsent' : 'refused'
      const { name: problemField, problem = explain(error) } = explainField(error)
      this.#update(key, { state, problem, problemField, hasFailed: true })
      if (state === 'unsent' && reconnects !== this.#reconnects) await this.send(key, saver)
    }
  }

  /**
   * Tells the person early if somebody else changes a plant that is being edited.
   *
   * @returns whether the change is one that was sent
   */
  observe({ id, plant }: PlantState): boolean {
    const sent = this.#drafts.find(
      ({ state, typed }) => (state === 'sending' || state === 'unsent') && parseId(typed.id) === id,
    )
    const isMine = sent !== undefined && isCarriedOut(sent, plant)
    if (sent?.state === 'sending') {
      const { key } = sent
      // What others change later keeps what was sent.
      const isLater = this.#reported.has(key) && isCarriedOut(sent, this.#reported.get(key))
      this.#reported.set(key, plant)
      return isMine && !isLater
    }
    // Its response was lost.
    if (isMine) this.discard(sent.key)
    else this.#compare(id, plant)
    return isMine
  }

  #compare(id: bigint, plant: Plant | undefined): void {
    const draft = this.of(id)
    if (draft === undefined) return
    const { key, isDeletion, before, state } = draft
    // Somebody else has deleted it.
    if (isDeletion && plant === undefined) this.discard(key)
    else if (state === 'conflict' || !hasSameContent(plant, before)) {
      this.#update(key, conflictWith(draft, plant && { ...plant, id }))
    }
  }

  #add(draft: Pick<Draft, 'typed' | 'before'> & Partial<Draft>): number {
    this.#latestKey += 1
    const initial = { isDeletion: false, state: 'editing', hasFailed: false } as const
    const added: Draft = { ...initial, ...draft, key: this.#latestKey }
    this.#drafts = [...this.#drafts, added]
    return added.key
  }

  #update(key: number, changes: Partial<Draft>): void {
    this.#drafts = this.#drafts.map((draft) =>
      draft.key === key ? { ...draft, ...changes } : draft,
    )
    this.changed()
  }
}

import type { Plant, PlantChange } from '../../client/client.ts'
import { limits } from '../../core/generated/limits.gen.ts'
import { ownValue } from '../../core/members/members.ts'
import { contentMembers, textLength } from '../model/current-members.ts'
import type { Intent } from './delivery.ts'
import { toPatch } from './merge.ts'
import { tagOf } from './plant-tag.ts'

/**
 * 500 changes with entity tags of 600 bytes stay below the service's default limit of 1 MiB for a body, and the plants
 * before and after them below its limit for a list.
 */
const INTENTS_MAX = limits.changePlants.body.maxItems / 2
const TEXT_MAX = 2 ** 18

/** Intents that are sent together. */
export class ChangeList<Each extends Intent> {
  readonly #intents = new Map<bigint, Each>()
  #length = 0
  #areTagsKnown = true

  get isFull(): boolean {
    return this.#intents.size === INTENTS_MAX || this.#length >= TEXT_MAX
  }

  get(id: bigint): Each | undefined {
    return this.#intents.get(id)
  }

  add(intent: Each): void {
    this.#intents.set(intent.id, intent)
    const { before, after } = intent
    this.#length += Math.max(lengthOf(before), lengthOf(after))
  }

  /** Empties the list. */
  take(): readonly Each[] {
    const intents = [...this.#intents.values()]
    this.#intents.clear()
    this.#length = 0
    return intents
  }

  /** Stops computing entity tags: the service's differ. */
  distrustTags(): void {
    this.#areTagsKnown = false
  }

  /** The changes that carry out the listed intents, unless the plants have changed. The other intents need a tag. */
  async toChanges(intents: readonly Each[]) {
    const changes: PlantChange[] = []
    const listed: Each[] = []
    const others: Each[] = []
    for (const intent of intents) {
      const change = await this.#toChange(intent)
      if (change === undefined) others.push(intent)
      else {
        changes.push(change)
        listed.push(intent)
      }
    }
    return { changes, listed, others }
  }

  async #toChange({ id, before, after }: Intent): Promise<PlantChange | undefined> {
    if (before === undefined) return after && { op: 'create', id, ...after }
    const ifMatch = this.#areTagsKnown ? await tagOf(before) : undefined
    if (ifMatch === undefined) return undefined
    if (after === undefined) return { op: 'remove', id, ifMatch }
    const changed = contentMembers.filter(
      ({ name }) => ownValue(before, name) !== ownValue(after, name),
    )
    return { op: 'update', id, ...toPatch(changed, after), ifMatch }
  }
}

function lengthOf(plant: Plant | undefined): number {
  return plant === undefined ? 0 : textLength(plant)
}

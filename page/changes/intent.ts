import type { Plant, PlantChange, PlantPatch, StoredPlant } from '../../client/client.ts'
import { type Member, ownValue } from '../../core/members/members.ts'
import {
  contentMembers,
  hasSameContent,
  pickContent,
  textLength,
} from '../model/current-members.ts'

/** What a person wants to become of a plant. Undefined stands for no plant. */
export interface Intent {
  readonly id: bigint
  /** What the person has seen. */
  readonly before: Plant | undefined
  readonly after: Plant | undefined
}

/** A change of many plants. */
export interface BulkChange {
  /** What it does, such as `Set tag to “Tree”`. */
  readonly title: string
  /** One for each plant that is to change. */
  readonly intents: readonly Intent[]
}

/** What carries an intent out: a change of what is stored, as far as the page knows. */
export interface Step<Each extends Intent = Intent> {
  readonly intent: Each
  readonly stored: Plant | undefined
  readonly next: Plant | undefined
}

export function firstStep<Each extends Intent>(intent: Each): Step<Each> {
  const { before, after } = intent
  return { intent, stored: before && pickContent(before), next: after }
}

/**
 * The step for a plant that was looked at. It keeps what others have changed since the person saw the plant.
 *
 * @returns undefined if both have changed the same member, or somebody else has deleted the plant or added another one
 */
export function rebase<Each extends Intent>(
  intent: Each,
  plant: StoredPlant | undefined,
): Step<Each> | undefined {
  const { before, after } = intent
  if (hasSameContent(plant, after)) return { intent, stored: plant, next: after }
  // With members that the service has gained since the page was loaded.
  const { id: _, ...stored } = { ...plant } as StoredPlant
  if (hasSameContent(plant, before)) return { intent, stored: plant && stored, next: after }
  if (before === undefined || after === undefined || plant === undefined) return undefined
  const { changed, contested } = compare(before, after, plant)
  if (contested.length > 0) return undefined
  return { intent, stored, next: replaceMembers(plant, changed, after) }
}

/** The intent that takes a step back. */
export function reverse({ intent: { id }, stored, next }: Step): Intent {
  return { id, before: next, after: stored && pickContent(stored) }
}

/** The change that makes a step, if the plant is still as stored. */
export function toChange({ intent: { id }, stored, next }: Step): PlantChange {
  if (stored === undefined) return { op: 'create', id, ...(next as Plant) }
  if (next === undefined) return { op: 'remove', id, ifContent: stored }
  return { op: 'update', id, ...toPatch(stored, next), ifContent: stored }
}

/** The length of a step's change in a list, in UTF-16 units. */
export function lengthOf({ stored, next }: Step): number {
  if (stored === undefined || next === undefined) return textLength(stored ?? next ?? {})
  return textLength(stored) + textLength(toPatch(stored, next))
}

export interface Comparison {
  /** The members that the person has changed. */
  readonly edited: readonly Member[]
  /** Those among them that are not stored yet. */
  readonly changed: readonly Member[]
  /** Those among these that somebody else has changed too, differently. */
  readonly contested: readonly Member[]
}

/**
 * Compares what a person wants a plant to become with what is stored now.
 *
 * @param before what the person has seen
 */
export function compare(before: Plant, wanted: Plant, stored: Plant): Comparison {
  const edited = contentMembers.filter(differ(wanted, before))
  const changed = edited.filter(differ(wanted, stored))
  return { edited, changed, contested: changed.filter(differ(stored, before)) }
}

/** The content of a plant, with the values that some of its members have in another one. */
export function replaceMembers(plant: Plant, replaced: readonly Member[], other: Plant): Plant {
  const values = replaced.map(({ name }) => [name, ownValue(other, name)])
  return pickContent({ ...plant, ...Object.fromEntries(values) })
}

/** Unlike a replacement, a patch keeps members that the service has gained since the page was loaded. */
export function toPatch(stored: Plant, next: Plant): PlantPatch {
  const changed = contentMembers.filter(differ(stored, next))
  return Object.fromEntries(changed.map(({ name }) => [name, ownValue(next, name) ?? null]))
}

function differ(one: Plant, other: Plant): (member: Member) => boolean {
  return ({ name }) => ownValue(one, name) !== ownValue(other, name)
}

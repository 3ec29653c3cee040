import type { Plant, PlantPatch } from '../../client/client.ts'
import { type Member, ownValue } from '../../core/members/members.ts'
import { contentMembers, pickContent } from '../model/current-members.ts'

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
  const differ = (one: Plant, other: Plant) => (member: Member) =>
    ownValue(one, member.name) !== ownValue(other, member.name)
  const edited = contentMembers.filter(differ(wanted, before))
  const changed = edited.filter(differ(wanted, stored))
  return { edited, changed, contested: changed.filter(differ(stored, before)) }
}

/** The content of a plant, with the values that some of its members have in another one. */
export function replaceMembers(plant: Plant, replaced: readonly Member[], other: Plant): Plant {
  const values = replaced.map(({ name }) => [name, ownValue(other, name)])
  return pickContent({ ...plant, ...Object.fromEntries(values) })
}

/**
 * The patch that gives a plant the values that some members have in another one. Unlike a replacement, it keeps members
 * that the service has gained since the page was loaded.
 */
export function toPatch(changed: readonly Member[], other: Plant): PlantPatch {
  const values = changed.map(({ name }) => [name, ownValue(other, name) ?? null])
  return Object.fromEntries(values)
}

import type { Plant, StoredPlant } from '../../client/client.ts'
import { type Member, type MemberValue, ownValue, writeText } from '../../core/members/members.ts'
import type { BulkChange } from '../changes/intent.ts'
import { replaceMembers } from '../changes/intent.ts'
import { valueLabel } from '../forms/control.ts'
import { contentOf, findInvalid, type Typed } from '../forms/typed.ts'
import { isOwn } from '../model/current-members.ts'
import { cut, memberLabel } from '../text/display-text.ts'

/** Enough to recognize a value. */
const VALUE_LENGTH = 60

/**
 * Gives plants the same value of a member.
 *
 * @param text the value as a person has typed it. Undefined for no value
 * @returns the change of the plants that have another value, or what is wrong with the text, as a sentence
 */
export function setMember(
  plants: readonly StoredPlant[],
  member: Member,
  text: string | undefined,
): BulkChange | string {
  const typed: Typed = { id: '', name: '', tag: undefined, [member.name]: text }
  const invalid = findInvalid(typed)
  if (invalid !== undefined) return invalid.problem
  const wanted = contentOf(typed)
  const value = ownValue(wanted, member.name)
  return {
    title: describe(member, wanted),
    intents: plants
      .filter((plant) => ownValue(plant, member.name) !== value)
      .map((plant) => ({
        id: plant.id,
        before: plant,
        after: replaceMembers(plant, [member], wanted),
      })),
  }
}

export function deletePlants(plants: readonly StoredPlant[]): BulkChange {
  return {
    title: 'Delete plants',
    intents: plants.map((plant) => ({ id: plant.id, before: plant, after: undefined })),
  }
}

function describe(member: Member, wanted: Plant): string {
  const value = ownValue(wanted, member.name) as MemberValue | undefined
  if (!isOwn(member)) {
    return value === undefined ? `Remove the ${member.name}` : set(member.name, writeText(value))
  }
  const label = memberLabel(member)
  if (value === undefined) return `Remove ${label}`
  return set(label, valueLabel(member, writeText(value)))
}

function set(label: string, value: string): string {
  return `Set ${label} to “${cut(value, VALUE_LENGTH)}”`
}

import type { Plant } from '../../client/client.ts'
import { type Member, type MemberValue, ownValue, writeText } from '../../core/members/members.ts'
import { contentMembers, isOwn } from '../model/current-members.ts'

/** The members to show of a plant next to another one: of its own members, those that differ. */
export function comparedMembers(plant: Plant, other: Plant | undefined): readonly Member[] {
  return contentMembers.filter(
    (member) => !isOwn(member) || textIn(plant, member) !== textIn(other, member),
  )
}

/** The value of a member as text. Undefined if there is none. */
export function textIn(plant: Plant | undefined, { name }: Member): string | undefined {
  const value = plant && (ownValue(plant, name) as MemberValue | undefined)
  return value === undefined ? undefined : writeText(value)
}

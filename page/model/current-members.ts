import { members as baseMembers } from '../../core/members/members.gen.ts'
import type { Member } from '../../core/members/members.ts'
import type { FieldSchema } from '../../core/members/own-fields.ts'
import { describePlants } from '../../core/members/plant.ts'

/** A member that the operator of the service has added. */
export interface OwnMember extends Member {
  readonly schema: FieldSchema
}

// `setMembers` assigns these. Read them when they are needed, not when a module loads.

/** The members of a plant, in their order in files and forms. */
export let members = baseMembers
export let ownMembers: readonly OwnMember[] = []
/** The names of the own members whose values are bigints. */
export let int64Fields: readonly string[] = []
export let { contentMembers, hasSameContent, pickContent, textLength, toFields } =
  describePlants(members)

/** Sets the members in which plants differ from those of other services. */
export function setMembers(changed: readonly Member[]): void {
  const base = baseMembers.map(
    (member) => changed.find(({ name }) => name === member.name) ?? member,
  )
  const own = changed.filter(isOwn)
  members = [...base, ...own]
  ownMembers = own
  int64Fields = own.filter(({ type }) => type === 'int64').map(({ name }) => name)
  ;({ contentMembers, hasSameContent, pickContent, textLength, toFields } = describePlants(members))
}

export function isOwn(member: Member): member is OwnMember {
  return member.schema !== undefined
}

/** The members that many plants can share a value of: all but the id and the name. */
export function sharedMembers(): readonly Member[] {
  return contentMembers.filter(({ name }) => name !== 'name')
}

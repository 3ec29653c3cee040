import type { Plant, StoredPlant } from '../../client/client.ts'
import { canBeEmpty, expectations, readOwn } from '../../core/members/member-text.ts'
import { type Member, type MemberValue, ownValue, readText } from '../../core/members/members.ts'
import {
  contentMembers,
  isOwn,
  members,
  ownMembers,
  pickContent,
  toFields,
} from '../model/current-members.ts'
import { memberLabel } from '../text/display-text.ts'

/** What a person has typed: the members of a plant as text. Undefined for a member that it does not have. */
export interface Typed {
  readonly id: string
  readonly name: string
  readonly tag: string | undefined
  /** Own members. They can have the names of methods, which `textOf` ignores. */
  readonly [name: string]: string | undefined
}

/** The form for a plant to add, before anything is typed. */
export function blank(id: string): Typed {
  const entries = members.map(({ name, isRequired }) => [name, isRequired ? '' : undefined])
  return { ...Object.fromEntries(entries), id }
}

export function typedOf(plant: StoredPlant): Typed {
  const fields = toFields(plant)
  return Object.fromEntries(members.map(({ name }, index) => [name, fields[index]])) as Typed
}

export function textOf(typed: Typed, name: string): string | undefined {
  return ownValue(typed, name) as string | undefined
}

/** The plant that was typed, without members whose text is not a value. */
export function contentOf(typed: Typed): Plant {
  const values = contentMembers.map((member) => [member.name, readTyped(member, typed)])
  return pickContent(Object.fromEntries(values))
}

/** The same, but with the text of members whose text is not a value, which differs from any value. */
export function valuesOf(typed: Typed): Plant {
  const values = contentMembers.map((member) => [
    member.name,
    readTyped(member, typed) ?? textOf(typed, member.name),
  ])
  return pickContent(Object.fromEntries(values))
}

function readTyped(member: Member, typed: Typed): MemberValue | undefined {
  const text = textOf(typed, member.name)
  if (text === undefined) return undefined
  return isOwn(member) ? readOwn(member, text) : readText(member, text)
}

/** The first member whose text is not a value of its type, and what the text must be, as a sentence. */
export function findInvalid(
  typed: Typed,
): { readonly name: string; readonly problem: string } | undefined {
  for (const member of ownMembers) {
    const { name, type } = member
    const text = textOf(typed, name)
    if (text === undefined || type === 'string' || readOwn(member, text) !== undefined) continue
    return { name, problem: `${memberLabel(member)} ${expectations[type](text)}.` }
  }
  return undefined
}

/** What a form stores for text. Space alone is no value of members that cannot be empty. */
export function toTyped(member: Member, text: string): string | undefined {
  return text.trim() === '' && !canBeEmpty(member) ? undefined : text
}

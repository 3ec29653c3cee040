import type { components } from './api.gen.ts'
import { members } from './members.gen.ts'
import { type Member, type MemberValue, writeText } from './members.ts'

type Schemas = components['schemas']

/** What a plant has apart from its id. `null` is how databases represent that there is no tag. */
type Content = { readonly name: string; readonly tag?: string | null | undefined }

/** The content of a plant or a patch. */
type PartialContent = { readonly [Name in keyof Content]?: Content[Name] | undefined }

/** The same by the names of the members. */
type ContentValues = { readonly [name: string]: string | null | undefined }

/** The functions of this file, for plants with some members. */
export function describePlants(members: readonly Member[]) {
  /** All members except the id. */
  const contentMembers = members.filter(({ name }) => name !== 'id')
  const parts = contentMembers.map(({ name }) => ({ name, start: `,${JSON.stringify(name)}:` }))

  /** Whether two plants have the same content. A missing tag differs from an empty one, and no plant from any plant. */
  function hasSameContent(one: Content | undefined, other: Content | undefined): boolean {
    if (one === undefined || other === undefined) return one === other
    const values: ContentValues = one
    const others: ContentValues = other
    for (const { name } of contentMembers) {
      if ((values[name] ?? undefined) !== (others[name] ?? undefined)) return false
    }
    return true
  }

  /** A plant as JSON, without optional whitespace. JSON.stringify rejects ids, which are bigints. */
  function plantJson(plant: Content & { readonly id: bigint }): string {
    const values: { readonly [name: string]: MemberValue | null | undefined } = plant
    let json = `{"id":${plant.id}`
    for (const { name, start } of parts) {
      const value = values[name]
      if (value !== undefined && value !== null) json += start + JSON.stringify(value)
    }
    return `${json}}`
  }

  /** The content among some values, without members that are undefined or null. */
  function pickContent(values: object): Schemas['Plant'] {
    const picked: Record<string, unknown> = {}
    for (const { name } of contentMembers) {
      const value: unknown = Object(values)[name]
      if (value !== undefined && value !== null) picked[name] = value
    }
    return Object(picked)
  }

  /** The length of the text in a plant or a patch, in UTF-16 units. */
  function textLength(content: PartialContent): number {
    const values: ContentValues = content
    let length = 0
    for (const { name } of contentMembers) length += values[name]?.length ?? 0
    return length
  }

  /** The members of a plant as text, in their order. Undefined for a member that it does not have. */
  function toFields(plant: Schemas['StoredPlant']): (string | undefined)[] {
    const values: { readonly [name: string]: MemberValue | undefined } = plant
    return members.map(({ name }) => {
      const value = values[name]
      return value === undefined ? undefined : writeText(value)
    })
  }

  return { contentMembers, hasSameContent, plantJson, pickContent, textLength, toFields }
}

export const { contentMembers, hasSameContent, plantJson, pickContent, textLength, toFields } =
  describePlants(members)

import type { components } from '../generated/api.gen.ts'
import { type Member, type MemberValue, ownValue, writeJson, writeText } from './members.ts'

type Schemas = components['schemas']

/** What a plant has apart from its id, as in the API: own fields are members. */
type Content = Readonly<Schemas['Plant']>

/** The content of a plant or a patch. */
type PartialContent = { readonly [Name in keyof Content]?: Content[Name] | null | undefined }

/** The functions of this file, for plants with some members. */
export function describePlants(members: readonly Member[]) {
  /** All members except the id. */
  const contentMembers = members.filter(({ name }) => name !== 'id')
  const parts = contentMembers.map(({ name }) => ({ name, start: `,${JSON.stringify(name)}:` }))

  /** Whether two plants have the same content. A missing tag differs from an empty one, and no plant from any plant. */
  function hasSameContent(one: Content | undefined, other: Content | undefined): boolean {
    if (one === undefined || other === undefined) return one === other
    return contentMembers.every(({ name }) => presentValue(one, name) === presentValue(other, name))
  }

  /** A plant as JSON, without optional whitespace. JSON.stringify rejects ids, which are bigints. */
  function plantJson(plant: Schemas['StoredPlant']): string {
    let json = `{"id":${plant.id}`
    for (const { name, start } of parts) {
      const value = presentValue(plant, name)
      if (value !== undefined) json += start + writeJson(value)
    }
    return `${json}}`
  }

  /** The content among some values, without members that are undefined or null. */
  function pickContent(values: object): Schemas['Plant'] {
    const picked: Record<string, unknown> = {}
    for (const { name } of contentMembers) {
      const value = presentValue(values, name)
      if (value !== undefined) picked[name] = value
    }
    return picked as Schemas['Plant']
  }

  /** The length of the text in a plant or a patch, in UTF-16 units. */
  function textLength(content: PartialContent): number {
    let length = 0
    for (const { name } of contentMembers) {
      const value = presentValue(content, name)
      if (value !== undefined) length += writeText(value).length
    }
    return length
  }

  /** The members of a plant as text, in their order. Undefined for a member that it does not have. */
  function toFields(plant: Schemas['StoredPlant']): (string | undefined)[] {
    return members.map(({ name }) => {
      const value = presentValue(plant, name)
      return value === undefined ? undefined : writeText(value)
    })
  }

  return { contentMembers, hasSameContent, plantJson, pickContent, textLength, toFields }
}

/** The value of a member; undefined if there is none, or it is null. */
function presentValue(values: object, name: string): MemberValue | undefined {
  return (ownValue(values, name) as MemberValue | null | undefined) ?? undefined
}

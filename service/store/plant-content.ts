/** The content of plants as stores have it: strings, one of which has all own fields. */

/** What a plant has apart from its id. Databases represent what is missing by null. */
export interface Content {
  readonly name: string
  readonly tag?: string | null | undefined
  /**
   * The own fields in canonical form: the members of a JSON object without whitespace, sorted by name, none of them null.
   * Undefined if there are none. So plants with the same own fields have the same text.
   *
   * @example '"height":120,"light":"sun"'
   */
  readonly fields?: string | null | undefined
}

/** A merge patch (RFC 7396) of the own fields: members of a JSON object. Those that it does not name stay unchanged. */
export interface FieldsPatch {
  /** The fields to set, in canonical form. */
  readonly fields?: string | undefined
  /** The fields to remove, each with the value null. */
  readonly clears?: string | undefined
}

/** A plant as stores have it. PlantCodec converts it to the API's, whose own fields are members. */
export interface Plant extends Content {
  readonly tag?: string | undefined
  readonly fields?: string | undefined
}

export interface StoredPlant extends Plant {
  readonly id: bigint
}

/** A plant to create or to put. */
export interface NewPlant extends StoredPlant, Omit<FieldsPatch, 'fields'> {}

/** A JSON merge patch (RFC 7396): omitted members stay unchanged, and a null tag removes the tag. */
export interface PlantPatch extends FieldsPatch {
  readonly name?: string
  readonly tag?: string | null
}

/** The strings of a plant or of a patch. */
type Strings = { readonly [Name in keyof (Content & FieldsPatch)]?: string | null | undefined }

/** Whether two plants have the same content. A missing tag differs from an empty one. */
export function hasSameContent(one: Content, other: Content): boolean {
  return (
    one.name === other.name &&
    (one.tag ?? undefined) === (other.tag ?? undefined) &&
    (one.fields ?? undefined) === (other.fields ?? undefined)
  )
}

/** The length of the text in a plant or a patch, in UTF-16 units. */
export function textLength({ name, tag, fields, clears }: Strings): number {
  return (name?.length ?? 0) + (tag?.length ?? 0) + (fields?.length ?? 0) + (clears?.length ?? 0)
}

/** The content, without members that are undefined or null. */
export function toContent({ name, tag, fields }: Content) {
  return {
    name,
    ...(tag !== undefined && tag !== null && { tag }),
    ...(fields !== undefined && fields !== null && { fields }),
  }
}

/** A plant as JSON, without optional whitespace. JSON.stringify rejects ids, which are bigints. */
export function plantJson(plant: Content & { readonly id: bigint }): string {
  return `{"id":${plant.id},${contentMembers(plant)}}`
}

/** A plant without its id as JSON. */
export function contentJson(content: Content): string {
  return `{${contentMembers(content)}}`
}

function contentMembers({ name, tag, fields }: Content): string {
  let json = `"name":${JSON.stringify(name)}`
  if (tag !== undefined && tag !== null) json += `,"tag":${JSON.stringify(tag)}`
  if (fields !== undefined && fields !== null) json += `,${fields}`
  return json
}

/** Applies a patch to own fields in canonical form. */
export function mergeFields(
  stored: string | undefined,
  { fields, clears }: FieldsPatch,
): string | undefined {
  if (stored === undefined || stored === fields) return fields
  if (fields === undefined && clears === undefined) return stored
  // The last of several members with the same name wins.
  const given = [stored, fields, clears].filter((part) => part !== undefined)
  return writeFields(readFields(given.join()).filter(([, json]) => json !== 'null'))
}

/** The names of own fields, and their values as JSON. */
export function readFields(fields: string): [name: string, json: string][] {
  const values = parseSources(`{${fields}}`) as { [name: string]: string }
  return Object.entries(values)
}

/** Like JSON.parse, but in place of each string, number, boolean and null is its JSON. */
export function parseSources(json: string): unknown {
  return JSON.parse(json, toSource)
}

function toSource(_name: string, value: unknown, context?: { source?: string }): unknown {
  return context?.source ?? value
}

/** Own fields in canonical form; undefined if there are none. */
export function writeFields(fields: readonly [name: string, json: string][]): string | undefined {
  if (fields.length === 0) return undefined
  return fields
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
    .join()
}

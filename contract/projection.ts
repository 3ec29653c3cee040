import type { ContractDocument, Schema } from './contract.ts'
import { resolveReference } from './reference.ts'

/**
 * Which parts of a JSON value to build: all, none, or the members and items that a schema describes. The
 * other parts must be valid JSON, but no objects are built from them: V8 needs up to 0.3 s per MB to build
 * objects whose members have different names in different orders.
 */
export type Projection = 'all' | 'none' | Selection

export interface Selection {
  readonly members: readonly Member[]
  readonly items: Projection
  /** How many items to build. A valid array has fewer. */
  readonly itemsMax: number
}

export interface Member {
  readonly name: string
  /** The name in UTF-8. */
  readonly bytes: Buffer
  readonly projection: Projection
}

/** A schema with any other keyword, such as `additionalProperties`, can depend on the whole value. */
const KEYWORDS = new Set(
  [
    ['$ref', 'allOf', 'type', 'properties', 'items', 'required', 'minItems', 'maxItems'],
    ['format', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern'],
    ['title', 'description', 'default', 'examples'],
  ].flat(),
)

/** Builds an array or object as an empty one, which is invalid in place of a scalar. */
const SCALAR: Projection = { members: [], items: 'none', itemsMax: 0 }

/** The parts of a body that at least one operation of the contract uses. */
export function bodyProjection(document: ContractDocument): Projection {
  return Object.values(document.paths)
    .flatMap((item) => Object.values(item))
    .flatMap((operation) => Object.values(operation.requestBody?.content ?? {}))
    .map(({ schema }) => schemaProjection(schema, document))
    .reduce(union, 'none')
}

/** The parts of a value that a component schema of the contract, such as `NewPlant`, describes. */
export function componentProjection(document: ContractDocument, name: string): Projection {
  return schemaProjection({ $ref: `#/components/schemas/${name}` }, document)
}

/** The member whose name is the bytes from `start` to `end`. */
export function findMember(
  { members }: Selection,
  bytes: Buffer,
  start: number,
  end: number,
): Member | undefined {
  return members.find((member) => isEqual(member.bytes, bytes, start, end))
}

/** Faster than `Buffer.compare` for names, which are short. */
function isEqual(name: Buffer, bytes: Buffer, start: number, end: number): boolean {
  if (name.length !== end - start) return false
  for (let index = 0; index < name.length; index++) {
    if (name[index] !== bytes[start + index]) return false
  }
  return true
}

function schemaProjection(schema: Schema, document: ContractDocument): Projection {
  if (Object.keys(schema).some((keyword) => !KEYWORDS.has(keyword))) return 'all'
  const { $ref, allOf = [], type } = schema
  const projections = allOf.map((part) => schemaProjection(part, document))
  if ($ref !== undefined) {
    projections.push(schemaProjection(resolveReference(document, $ref) as Schema, document))
  }
  for (const each of [type].flat()) projections.push(typeProjection(each, schema, document))
  return projections.reduce(union, 'none')
}

function typeProjection(
  type: string | undefined,
  { $ref, allOf, properties, items, maxItems = Number.POSITIVE_INFINITY }: Schema,
  document: ContractDocument,
): Projection {
  if (type === undefined) return $ref === undefined && allOf === undefined ? 'all' : 'none'
  if (type === 'object') {
    if (properties === undefined) return 'all'
    const members = Object.entries(properties).map(([name, property]) => ({
      name,
      bytes: Buffer.from(name),
      projection: schemaProjection(property, document),
    }))
    return { members, items: 'none', itemsMax: 0 }
  }
  if (type !== 'array') return SCALAR
  if (items === undefined) return 'all'
  // One more than is valid, so that the validator rejects the array.
  const itemsMax = maxItems + 1
  return { members: [], items: schemaProjection(items, document), itemsMax }
}

function union(a: Projection, b: Projection): Projection {
  if (a === 'all' || b === 'all') return 'all'
  if (a === 'none') return b
  if (b === 'none') return a
  const members = new Map<string, Member>()
  for (const member of [...a.members, ...b.members]) {
    const { projection = 'none' } = members.get(member.name) ?? {}
    members.set(member.name, { ...member, projection: union(projection, member.projection) })
  }
  const itemsMax = Math.max(a.itemsMax, b.itemsMax)
  return { members: [...members.values()], items: union(a.items, b.items), itemsMax }
}

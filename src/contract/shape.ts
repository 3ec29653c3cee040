import type { ContractDocument } from './contract.ts'

/**
 * Which parts of a JSON value to read: all, none, or the members and items that a schema describes. The rest
 * must be valid JSON too, but no objects are built from it: V8 needs up to 0.3 s per MB to build objects whose
 * members have different names in different orders.
 */
export type Shape = 'all' | 'none' | Parts

export interface Parts {
  readonly members: readonly Member[]
  readonly items: Shape
}

export interface Member {
  readonly name: string
  /** The name in UTF-8. */
  readonly bytes: Buffer
  readonly shape: Shape
}

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly properties?: { readonly [name: string]: Schema }
  readonly items?: Schema
  readonly allOf?: readonly Schema[]
}

/** With any other keyword, such as `additionalProperties`, the rest of the value may matter. */
const KEYWORDS = new Set(
  [
    ['$ref', 'allOf', 'type', 'properties', 'items', 'required', 'minItems', 'maxItems'],
    ['format', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern'],
    ['title', 'description', 'default', 'examples'],
  ].flat(),
)

/** An array or object in place of a scalar is rejected whatever it contains. */
const SCALAR: Shape = { members: [], items: 'none' }

/** Which parts of a body any operation of the contract reads. */
export function bodyShape(document: ContractDocument): Shape {
  const bodies = Object.values(document.paths)
    .flatMap((item) => Object.values(item))
    .flatMap((operation) => Object.values(operation.requestBody?.content ?? {}))
  return bodies
    .map((body) => shapeOf((body as { schema: Schema }).schema, document))
    .reduce(union, 'none')
}

/** Which parts of a value matter to a component schema of the contract, such as `NewPlant`. */
export function componentShape(document: ContractDocument, name: string): Shape {
  return shapeOf({ $ref: `#/components/schemas/${name}` }, document)
}

/** The member whose name is the bytes from `start` to `end`. */
export function memberNamed(
  { members }: Parts,
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

function shapeOf(schema: Schema, document: ContractDocument): Shape {
  if (Object.keys(schema).some((keyword) => !KEYWORDS.has(keyword))) return 'all'
  const { $ref, allOf = [], type } = schema
  const parts = allOf.map((part) => shapeOf(part, document))
  if ($ref !== undefined) parts.push(shapeOf(resolved($ref, document), document))
  for (const each of [type].flat()) parts.push(shapeOfType(each, schema, document))
  return parts.reduce(union, 'none')
}

function shapeOfType(
  type: string | undefined,
  { $ref, allOf, properties, items }: Schema,
  document: ContractDocument,
): Shape {
  if (type === undefined) return $ref === undefined && allOf === undefined ? 'all' : 'none'
  if (type === 'object') {
    if (properties === undefined) return 'all'
    const members = Object.entries(properties).map(([name, property]) => ({
      name,
      bytes: Buffer.from(name),
      shape: shapeOf(property, document),
    }))
    return { members, items: 'none' }
  }
  if (type !== 'array') return SCALAR
  return items === undefined ? 'all' : { members: [], items: shapeOf(items, document) }
}

/** Resolves a reference such as `#/components/schemas/Plant`. */
function resolved(reference: string, document: ContractDocument): Schema {
  const [, ...path] = reference.split('/')
  let found: unknown = document
  for (const name of path) found = (found as Record<string, unknown>)[name]
  return found as Schema
}

function union(a: Shape, b: Shape): Shape {
  if (a === 'all' || b === 'all') return 'all'
  if (a === 'none') return b
  if (b === 'none') return a
  const members = new Map<string, Member>()
  for (const member of [...a.members, ...b.members]) {
    const { shape = 'none' } = members.get(member.name) ?? {}
    members.set(member.name, { ...member, shape: union(shape, member.shape) })
  }
  return { members: [...members.values()], items: union(a.items, b.items) }
}

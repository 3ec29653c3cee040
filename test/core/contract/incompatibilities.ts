/** Finds the changes of a contract that can break a client of the previous one. docs/http-api.md has the rules. */

/** A schema with resolved references. */
interface Schema {
  readonly type?: string | readonly string[]
  readonly allOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly [keyword: string]: unknown
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: Schema
}

type Content = Readonly<Record<string, { readonly schema: Schema; readonly examples?: Examples }>>

type Examples = Readonly<Record<string, { readonly value?: unknown }>>

interface Response {
  readonly headers?: Readonly<
    Record<string, { readonly required?: boolean; readonly schema: Schema }>
  >
  readonly content?: Content
}

/** The alternatives, each with the names of its schemes. */
type Security = readonly object[]

interface Operation {
  readonly operationId?: string
  readonly 'x-scope'?: string | readonly string[]
  readonly security?: Security
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, Response>>
}

/** A contract with resolved references. */
export interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  /** Applies to operations without their own. */
  readonly security?: Security
  readonly components?: { readonly securitySchemes?: Readonly<Record<string, object>> }
}

/** Who writes a value: a request must not become stricter, and a response must not become looser. */
type Direction = 'request' | 'response'

const ANNOTATIONS = ['description', 'summary', 'title', 'example', 'examples', '$ref']
const COMPARED = [
  'type',
  'allOf',
  'properties',
  'required',
  'items',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
]

/** Describes each incompatible change in one line that starts with the operation. */
export function findIncompatibilities(before: Contract, after: Contract): string[] {
  return Object.entries(before.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, old]) => {
      const name = `${method.toUpperCase()} ${path}`
      const now = after.paths[path]?.[method]
      if (now === undefined) return [`${name}: removed`]
      const changes = compareOperations(old, now)
      if (authenticationOf(before, old) !== authenticationOf(after, now))
        changes.unshift('authentication changed')
      return changes.map((change) => `${name}: ${change}`)
    }),
  )
}

function compareOperations(old: Operation, now: Operation): string[] {
  return [
    ...(old.operationId === now.operationId ? [] : ['operationId changed']),
    ...missing(scopesOf(now), scopesOf(old)).map((scope) => `scope ${scope} is now required`),
    ...compareParameters(old.parameters ?? [], now.parameters ?? []),
    ...compareBodies(old.requestBody, now.requestBody),
    ...Object.entries(old.responses).flatMap(([status, response]) =>
      compareResponses(response, now.responses[status]).map((change) => `${status} ${change}`),
    ),
    ...missing(successes(now), successes(old)).map((status) => `${status} is a new success`),
  ]
}

/** How requests authenticate, as JSON. */
function authenticationOf({ security, components }: Contract, operation: Operation): string {
  const alternatives = (operation.security ?? security ?? []).map((schemes) =>
    Object.keys(schemes).map((name) => withoutAnnotations(components?.securitySchemes?.[name])),
  )
  return JSON.stringify(alternatives)
}

function withoutAnnotations(node: object = {}): object {
  return Object.fromEntries(Object.entries(node).filter(([key]) => !ANNOTATIONS.includes(key)))
}

function scopesOf({ 'x-scope': scopes = [] }: Operation): readonly string[] {
  return [scopes].flat() as string[]
}

function successes({ responses }: Operation): string[] {
  return Object.keys(responses).filter((status) => status < '400')
}

function compareParameters(old: readonly Parameter[], now: readonly Parameter[]): string[] {
  const same = (a: Parameter) => (b: Parameter) => a.name === b.name && a.in === b.in
  const known = old.flatMap((parameter) => {
    const { name } = parameter
    const match = now.find(same(parameter))
    if (match === undefined) return [`parameter ${name} removed`]
    const changes = compareSchemas(parameter.schema, match.schema, 'request', `parameter ${name}`)
    return isNowRequired(parameter, match)
      ? [...changes, `parameter ${name} is now required`]
      : changes
  })
  const added = now.filter((each) => each.required === true && !old.some(same(each)))
  return [...known, ...added.map(({ name }) => `required parameter ${name} added`)]
}

function compareBodies(old: Operation['requestBody'], now: Operation['requestBody']): string[] {
  if (now === undefined) return old === undefined ? [] : ['request body removed']
  const changes = isNowRequired(old ?? {}, now) ? ['request body is now required'] : []
  return [...changes, ...compareContent(old?.content ?? {}, now.content, 'request')]
}

function isNowRequired(old: { required?: boolean }, now: { required?: boolean }): boolean {
  return now.required === true && old.required !== true
}

function compareResponses(old: Response, now: Response | undefined): string[] {
  if (now === undefined) return ['removed']
  const headers = Object.entries(old.headers ?? {}).flatMap(([name, header]) => {
    const match = now.headers?.[name]
    if (match === undefined) return [`header ${name} removed`]
    const changes = compareSchemas(header.schema, match.schema, 'response', `header ${name}`)
    return isNowRequired(match, header)
      ? [...changes, `header ${name} is no longer certain`]
      : changes
  })
  return [...headers, ...compareContent(old.content ?? {}, now.content ?? {}, 'response')]
}

function compareContent(old: Content, now: Content, direction: Direction): string[] {
  return Object.entries(old).flatMap(([type, { schema, examples = {} }]) => {
    const match = now[type]
    if (match === undefined) return [`media type ${type} removed`]
    const errors = Object.entries(examples).filter(([name, { value }]) => {
      const number = errorOf(value)
      return number !== undefined && number !== errorOf(match.examples?.[name]?.value)
    })
    return [
      ...compareSchemas(schema, match.schema, direction, `${direction} body`),
      ...errors.map(([name]) => `error ${name} removed or renumbered`),
    ]
  })
}

function errorOf(value: unknown): unknown {
  return (value as { error?: unknown } | null | undefined)?.error
}

function compareSchemas(before: Schema, after: Schema, direction: Direction, at: string): string[] {
  const [old, now] = [merge(before), merge(after)]
  // What the reader of the value could not expect.
  const [reader, writer] = direction === 'request' ? [now, old] : [old, now]
  const changes: string[] = []
  if (missing(typesOf(writer), typesOf(reader)).length > 0) changes.push(`${at}: type changed`)
  for (const name of missing(reader.required ?? [], writer.required ?? [])) {
    changes.push(`${at}/${name} is ${direction === 'request' ? 'now' : 'no longer'} required`)
  }
  for (const [name, schema] of Object.entries(old.properties ?? {})) {
    const match = now.properties?.[name]
    if (match === undefined) changes.push(`${at}/${name} removed`)
    else changes.push(...compareSchemas(schema, match, direction, `${at}/${name}`))
  }
  if (old.items !== undefined || now.items !== undefined) {
    changes.push(...compareSchemas(old.items ?? {}, now.items ?? {}, direction, `${at}/items`))
  }
  for (const keyword of ['minimum', 'minItems', 'minLength']) {
    if (bound(reader, keyword, -1) > bound(writer, keyword, -1))
      changes.push(`${at}: ${keyword} changed`)
  }
  for (const keyword of ['maximum', 'maxItems', 'maxLength']) {
    if (bound(reader, keyword, 1) < bound(writer, keyword, 1))
      changes.push(`${at}: ${keyword} changed`)
  }
  return [...changes, ...otherKeywords(old, now).map((keyword) => `${at}: ${keyword} changed`)]
}

/** Keywords whose effect is not compared, so any change of them counts. */
function otherKeywords(old: Schema, now: Schema): string[] {
  const keywords = new Set([...Object.keys(old), ...Object.keys(now)])
  return [...keywords].filter(
    (keyword) =>
      !COMPARED.includes(keyword) &&
      !ANNOTATIONS.includes(keyword) &&
      JSON.stringify(old[keyword]) !== JSON.stringify(now[keyword]),
  )
}

/** Joins the parts of `allOf` into one schema. */
function merge({ allOf = [], ...schema }: Schema): Schema {
  const parts = [...allOf.map(merge), schema]
  return {
    ...Object.assign({}, ...parts),
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required = [] }) => required),
  }
}

function typesOf({ type = 'any' }: Schema): readonly string[] {
  return [type].flat() as string[]
}

function bound(schema: Schema, keyword: string, sign: 1 | -1): number {
  return Number(schema[keyword] ?? sign * Number.POSITIVE_INFINITY)
}

function missing<Value>(wanted: readonly Value[], present: readonly Value[]): Value[] {
  return wanted.filter((each) => !present.includes(each))
}

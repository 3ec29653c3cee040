import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { known } from '../known.ts'
import { isMemberType, type Member } from '../members/members.ts'
import type { FieldSchema, OwnField } from '../members/own-fields.ts'
import { PACKAGE } from '../package.ts'
import { AFTER_KEY, filterParameters } from './field-parameters.ts'
import { type Scope, scopes } from './scopes.ts'

/** The parts of an operation in the contract that the server needs at run time. */
export interface Operation {
  readonly id: string
  /** The scopes that a token needs. It needs all of them. Empty if any valid token will do. */
  readonly scopes: readonly Scope[]
  /** The media types of the body; empty if the operation takes no body. */
  readonly mediaTypes: readonly string[]
  readonly bodyRequired: boolean
  /** The status of a success. */
  readonly success: number
  /** Whether its pages can be followed: by waiting for the next one, or as a stream of server-sent events. */
  readonly isFollowable: boolean
}

/** The contract is unusable or does not match its handlers. */
export class ContractError extends Error {}

/** A JSON Schema; only the keywords that are read here have types. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly properties?: { readonly [name: string]: Schema }
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly maxItems?: number
  readonly allOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly discriminator?: object
  readonly [keyword: string]: unknown
}

interface OperationObject {
  operationId?: string
  security?: SecurityRequirement[]
  /** OpenAPI extension: the required scopes. Linters accept scopes in `security` for OAuth 2 only. */
  'x-scope'?: string | string[]
  parameters?: ParameterObject[]
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> }
  responses: Record<string, { description?: string; content?: Record<string, unknown> }>
}

/** A parameter, or a reference to one. */
interface ParameterObject {
  readonly name?: string
  readonly in?: string
  schema?: object
}

type SecurityRequirement = Record<string, string[]>

export interface ContractDocument {
  info: { title: string; version: string }
  security?: SecurityRequirement[]
  paths: Record<string, Record<string, OperationObject>>
  /** OpenAPI extension: responses to requests that match no operation, by status. */
  'x-responses-outside-operations'?: Record<string, unknown>
  /** OpenAPI extension: the names of the properties that the operator has added to `Plant`. */
  'x-own-fields'?: readonly string[]
  components: { schemas: Record<string, Schema> }
}

const SCHEME = 'bearer'
/** The `x-scope` of an operation that any valid token can call. */
const ANY_SCOPE = 'any'
const EVENT_STREAM = 'text/event-stream'
const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'])

/** The contract that ships with this package. */
export const CONTRACT_FILE = new URL('openapi.yaml', PACKAGE)

let contract: ContractDocument | undefined

/**
 * The contract that ships with this package. It is parsed once per process, because that takes a tenth of a second, so
 * every caller gets the same document and must not change it.
 */
export function loadContract(): ContractDocument {
  contract ??= parse(readFileSync(CONTRACT_FILE, 'utf8')) as ContractDocument
  return contract
}

/**
 * The operations of the contract by id. Each one requires the bearer scheme and has a handler.
 *
 * @param handlers an instance of a class with one method for each operation and no others
 * @throws ContractError naming the first operation or handler that does not match
 */
export function matchOperations(
  document: ContractDocument,
  handlers: object,
): ReadonlyMap<string, Operation> {
  const operations = new Map<string, Operation>()
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, object] of Object.entries(item)) {
      if (!METHODS.has(method)) continue
      const name = `${method.toUpperCase()} ${path}`
      const operation = toOperation(name, object, document.security)
      if (operations.has(operation.id)) {
        throw new ContractError(`${name}: duplicate operationId ${operation.id}`)
      }
      operations.set(operation.id, operation)
    }
  }
  const methods = new Set(Object.getOwnPropertyNames(Object.getPrototypeOf(handlers)))
  methods.delete('constructor')
  for (const id of operations.keys()) {
    if (!methods.delete(id)) throw new ContractError(`the operation ${id} has no handler`)
  }
  for (const name of methods) {
    throw new ContractError(`the handler ${name} has no operation in the contract`)
  }
  return operations
}

function toOperation(
  name: string,
  object: OperationObject,
  inherited: SecurityRequirement[] = [],
): Operation {
  if (object.operationId === undefined) throw new ContractError(`${name}: no operationId`)
  const content = object.requestBody?.content ?? {}
  const [status, success] =
    Object.entries(object.responses).find(([key]) => key.startsWith('2')) ?? []
  return {
    id: object.operationId,
    scopes: requiredScopes(name, object, inherited),
    mediaTypes: Object.keys(content),
    bodyRequired: object.requestBody?.required ?? false,
    success: Number(status),
    isFollowable: success?.content?.[EVENT_STREAM] !== undefined,
  }
}

function requiredScopes(
  name: string,
  object: OperationObject,
  inherited: SecurityRequirement[],
): Scope[] {
  const { security = inherited, 'x-scope': required = [] } = object
  if (security.length === 0 || security.some((requirement) => !(SCHEME in requirement))) {
    throw new ContractError(`${name}: every security requirement must include ${SCHEME}`)
  }
  if (required === ANY_SCOPE) return []
  const named = [required].flat()
  const needed = scopes.filter((scope) => named.includes(scope))
  if (needed.length === 0 || needed.length !== named.length) {
    throw new ContractError(
      `${name}: x-scope must be ${ANY_SCOPE}, ${scopes.join(', ')} or a list of scopes`,
    )
  }
  return needed
}

/** A response, or a reference to one. */
interface ResponseObject {
  readonly $ref?: string
  readonly headers?: object
}

/** The methods of all operations, in upper case. HEAD is one of them, because it works wherever GET does. */
export function methodNames({ paths }: ContractDocument): string[] {
  const methods = Object.values(paths).flatMap((item) => Object.keys(item))
  const names = methods.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : method))
  return [...new Set(names.map((name) => name.toUpperCase()))]
}

/** The headers of all responses, as the contract spells them. */
export function responseHeaderNames(document: ContractDocument): string[] {
  const byStatus = operationsOf(document).map(({ responses }) => responses)
  const responses = [...byStatus, { ...document['x-responses-outside-operations'] }]
    .flatMap((each) => Object.values(each) as ResponseObject[])
    .map(({ $ref, ...response }) =>
      $ref === undefined ? response : (resolveReference(document, $ref) as ResponseObject),
    )
  return [...new Set(responses.flatMap(({ headers = {} }) => Object.keys(headers)))]
}

function operationsOf({ paths }: ContractDocument): OperationObject[] {
  return Object.values(paths).flatMap((item) => Object.values(item))
}

/** The part of a document at a reference such as `#/components/schemas/Plant`. */
export function resolveReference(document: object, reference: string): unknown {
  const [, ...path] = reference.split('/')
  let found: unknown = document
  for (const name of path) found = (found as Record<string, unknown>)[name]
  return found
}

/**
 * A copy of the contract whose plants have own fields, by which a list can select plants. The schemas that derive from
 * `Plant` have them too.
 */
export function extendContract(
  document: ContractDocument,
  fields: readonly OwnField[],
  sortable: readonly string[] = [],
): ContractDocument {
  if (fields.length + sortable.length === 0) return document
  const copy = { ...structuredClone(document), 'x-own-fields': fields.map(({ name }) => name) }
  const { schemas } = copy.components
  const properties = toProperties(fields, (schema) => schema)
  const nullable = toProperties(fields, toNullable)
  for (const [name, added] of Object.entries({
    Plant: properties,
    PlantPatch: nullable,
    PlantUpdate: nullable,
  })) {
    const schema = known(schemas[name])
    schemas[name] = { ...schema, properties: { ...schema.properties, ...added } }
  }
  const stored = known(schemas.Plant?.properties)
  for (const name of sortable) Object.assign(known(stored[name]), { 'x-sortable': true })
  const { parameters = [] } = known(copy.paths['/plants']?.get)
  parameters.push(...fields.flatMap(filterParameters))
  const sort = known(parameters.find(({ name }) => name === 'sort'))
  if (sortableMembers(copy).length > 0) parameters.push(AFTER_KEY)
  sort.schema = { ...sort.schema, enum: sortNames(copy) }
  return copy
}

function toProperties(
  fields: readonly OwnField[],
  toSchema: (schema: FieldSchema) => object,
): Record<string, Schema> {
  return Object.fromEntries(fields.map(({ name, schema }) => [name, toSchema(schema) as Schema]))
}

/** The members of a plant by which an index sorts plants. */
export function sortableMembers(document: ContractDocument): Member[] {
  return plantMembers(document).filter(({ isSortable }) => isSortable)
}

/** The values of the parameter `sort`. */
function sortNames(document: ContractDocument): string[] {
  return ['id', ...sortableMembers(document).map(({ name }) => name)].flatMap((name) => [
    name,
    `-${name}`,
  ])
}

/** The schema of a field in a patch, where null removes it. */
function toNullable({ type, enum: values, 'x-sortable': _, ...schema }: FieldSchema): object {
  return { ...schema, type: [type, 'null'], ...(values && { enum: [...values, null] }) }
}

/** The own fields of a contract that was extended. */
export function ownFields(document: ContractDocument): OwnField[] {
  const { properties = {} } = known(document.components.schemas.Plant)
  const names = document['x-own-fields'] ?? []
  return names.map((name) => ({ name, schema: properties[name] as unknown as FieldSchema }))
}

/**
 * The members of a plant, in the order of the schema `StoredPlant`, and then its own fields.
 *
 * @throws ContractError naming the first one with a type that no member can have
 */
export function plantMembers(document: ContractDocument): Member[] {
  const members = membersOf(document, known(document.components.schemas.StoredPlant))
  // JavaScript moves names like `0` to the front of an object.
  const own = ownFields(document).map(({ name, schema }) => ({ ...toMember(name, schema), schema }))
  return [...members.filter(({ name }) => own.every((field) => field.name !== name)), ...own]
}

function membersOf(document: ContractDocument, schema: Schema): Member[] {
  const { allOf = [], properties = {}, required = [] } = resolve(document, schema)
  const own = Object.entries(properties).map(([name, property]) => {
    return toMember(name, resolve(document, property), required.includes(name))
  })
  return [...allOf.flatMap((part) => membersOf(document, part)), ...own]
}

function toMember(name: string, schema: Schema | FieldSchema, isRequired = false): Member {
  const type = schema.type === 'integer' ? schema.format : schema.type
  if (!isMemberType(type)) throw new ContractError(`plants: ${name} has the type ${type}`)
  return { name, type, isRequired, ...(schema['x-sortable'] === true && { isSortable: true }) }
}

function resolve(document: ContractDocument, schema: Schema): Schema {
  return schema.$ref === undefined ? schema : (resolveReference(document, schema.$ref) as Schema)
}

/** A copy of the contract without responses, for which Fastify would compile serializers that nothing calls. */
export function withoutResponses(document: ContractDocument): ContractDocument {
  const copy = structuredClone(document)
  for (const operation of operationsOf(copy)) {
    operation.responses = { default: { description: 'Any response.' } }
  }
  return copy
}

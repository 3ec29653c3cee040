import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { PACKAGE } from '../package.ts'
import { type Scope, scopes } from './scopes.ts'

/** An operation of the contract, as far as the server itself has to know it. */
export interface Operation {
  readonly id: string
  /** The scopes that a token needs, all of them. Never empty. */
  readonly scopes: readonly Scope[]
  /** The media types that a body may have; none if the operation takes no body. */
  readonly mediaTypes: readonly string[]
  readonly bodyRequired: boolean
  /** The status of success. */
  readonly success: number
}

/** The contract, or the handlers with it, cannot be served as they are. */
export class ContractError extends Error {}

interface OperationObject {
  operationId?: string
  security?: SecurityRequirement[]
  /** Our extension: the scopes that a token needs. Linters take scopes in `security` for OAuth 2 scopes. */
  'x-scope'?: string | string[]
  requestBody?: { required?: boolean; content: Record<string, unknown> }
  responses: Record<string, unknown>
}

type SecurityRequirement = Record<string, string[]>

export interface ContractDocument {
  info: { title: string; version: string }
  security?: SecurityRequirement[]
  paths: Record<string, Record<string, OperationObject>>
  components?: unknown
}

const SCHEME = 'bearer'
const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'])

/** Reads the contract of the package. */
export function loadContract(): ContractDocument {
  return parse(readFileSync(new URL('openapi.yaml', PACKAGE), 'utf8'))
}

/**
 * The operations of the contract by their id, each of which has a handler and is behind the bearer
 * scheme.
 *
 * @param handlers an instance of a class with a method for each operation and no other
 * @throws ContractError naming the first operation or handler of which that is not true
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
      const operation = operationOf(name, object, document.security)
      if (operations.has(operation.id)) {
        throw new ContractError(`${name}: the operationId ${operation.id} is taken`)
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

function operationOf(
  name: string,
  object: OperationObject,
  inherited: SecurityRequirement[] = [],
): Operation {
  if (object.operationId === undefined) throw new ContractError(`${name} has no operationId`)
  return {
    id: object.operationId,
    scopes: scopesOf(name, object, inherited),
    mediaTypes: Object.keys(object.requestBody?.content ?? {}),
    bodyRequired: object.requestBody?.required ?? false,
    success: Number(Object.keys(object.responses).find((status) => status.startsWith('2'))),
  }
}

function scopesOf(
  name: string,
  object: OperationObject,
  inherited: SecurityRequirement[],
): Scope[] {
  const { security = inherited, 'x-scope': needed = [] } = object
  if (security.length === 0 || security.some((requirement) => !(SCHEME in requirement))) {
    throw new ContractError(`${name} is not behind the security scheme ${SCHEME}`)
  }
  const named = [needed].flat()
  const known = scopes.filter((scope) => named.includes(scope))
  if (known.length === 0 || known.length !== named.length) {
    throw new ContractError(`${name} must have an x-scope: one of ${scopes.join(', ')}, or a list`)
  }
  return known
}

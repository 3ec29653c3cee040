/**
 * Generates what derives from the contract: types, the table of error codes, the limits of requests and the members of
 * plants.
 */
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import ts from 'typescript'
import { loadContract, plantMembers, resolveReference } from '../../core/contract/contract.ts'
import { propertiesOf } from '../../core/known.ts'

const NOTICE = '// Generated from openapi.yaml by `npm run generate`; edit that instead.\n\n'

interface Contract extends OpenAPI3 {
  readonly paths: Record<string, Record<string, Operation>>
  readonly webhooks: Record<string, Record<string, Operation>>
}

interface Operation {
  readonly operationId?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Limited }> }
}

/** A parameter, or a reference to one. */
interface Parameter {
  readonly $ref?: string
  readonly name?: string
  readonly schema?: Limited & { readonly default?: unknown }
}

/** The keywords of a schema that limit a value. */
const LIMITS = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'] as const

type Limited = { readonly [Keyword in (typeof LIMITS)[number]]?: number }

/** Generates the content of each file, by its URL. */
export async function generatedFiles(): Promise<Map<URL, string>> {
  const document = loadContract() as unknown as Contract
  const types = (await generateTypes(document)) + generateDefaultedParameters(document)
  return new Map([
    [new URL('../../core/generated/api.gen.ts', import.meta.url), NOTICE + types],
    [
      new URL('../../core/generated/error-codes.gen.ts', import.meta.url),
      NOTICE + generateErrorCodes(document),
    ],
    [
      new URL('../../core/generated/limits.gen.ts', import.meta.url),
      NOTICE + generateLimits(document),
    ],
    [new URL('../../core/members/members.gen.ts', import.meta.url), NOTICE + generateMembers()],
  ])
}

/** The types of requests and responses, as a client sees them. An int64 is a bigint. */
async function generateTypes(document: Contract): Promise<string> {
  const bigint = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword)
  // It modifies its argument.
  const nodes = await openapiTS(structuredClone(withoutWebhookIds(document)), {
    transform: (schema) => (schema.format === 'int64' ? bigint : undefined),
  })
  return astToString(nodes)
}

/** Without ids, which would place them among the operations that the service implements. */
function withoutWebhookIds({ webhooks, ...document }: Contract): Contract {
  const items = Object.entries(webhooks).map(([name, item]) => {
    const methods = Object.entries(item).map(([method, { operationId, ...operation }]) => [
      method,
      operation,
    ])
    return [name, Object.fromEntries(methods)]
  })
  return { ...document, webhooks: Object.fromEntries(items) }
}

/** The parameters that a handler always receives, although a client can omit them. */
function generateDefaultedParameters(document: Contract): string {
  const members = operationsOf(document).map((operation) => {
    const { operationId } = operation
    const names = parametersOf(document, operation)
      .filter(({ schema }) => schema?.default !== undefined)
      .map(({ name }) => JSON.stringify(name))
    return `    ${operationId}: ${names.join(' | ') || 'never'};\n`
  })
  return [
    '/** The parameters that have a default, by operation. */\n',
    `export interface DefaultedParameters {\n${members.join('')}}\n`,
  ].join('')
}

/** The limits of the parameters and the body of each operation. */
function generateLimits(document: Contract): string {
  const limits = operationsOf(document).map((operation) => {
    const [body] = Object.values(operation.requestBody?.content ?? {})
    const parts = [
      ...parametersOf(document, operation).map(({ name, schema }) => [name, limitsOf(schema)]),
      ['body', limitsOf(body?.schema)],
    ]
    return [operation.operationId, Object.fromEntries(parts.filter(([, each]) => each))]
  })
  const each = limits.map(([operation, object]) => {
    return `export const ${operation}Limits = ${toSource(object)} as const\n`
  })
  const all = limits.map(([operation]) => `  ${operation}: ${operation}Limits,\n`)
  return [
    '// Each on its own, so that a bundle contains only those that it uses.\n',
    ...each,
    `\n/** The limits of the parameters and the body of each operation. */\nexport const limits = {\n${all.join('')}} as const\n`,
  ].join('')
}

/** A value as TypeScript. */
function toSource(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/"(\w+)":/g, '$1:')
}

/** The members of a plant. */
function generateMembers(): string {
  return [
    "import type { Member } from './members.ts'\n\n",
    '/** The members of a plant, in their order in JSON and in files. */\n',
    `export const members: readonly Member[] = ${toSource(plantMembers(loadContract()))}\n`,
  ].join('')
}

/** The limits that a schema sets; undefined if it sets none. */
function limitsOf(schema: Limited = {}): Limited | undefined {
  const limits = LIMITS.filter((keyword) => schema[keyword] !== undefined)
  if (limits.length === 0) return undefined
  return Object.fromEntries(limits.map((keyword) => [keyword, schema[keyword]]))
}

function operationsOf({ paths }: Contract): Operation[] {
  return Object.values(paths).flatMap((item) => Object.values(item))
}

function parametersOf(document: Contract, { parameters = [] }: Operation): Parameter[] {
  return parameters.map((each) =>
    each.$ref ? (resolveReference(document, each.$ref) as Parameter) : each,
  )
}

/** Every named example of an Error, anywhere in the contract, defines an error code. */
function generateErrorCodes(document: Contract): string {
  const errors = new Map<string, number>()
  collectErrors(document, errors)
  const lines = [...errors]
    .sort(([, a], [, b]) => a - b)
    .map(([name, error]) => {
      const status = Math.trunc(error / 100)
      return `  '${name}': { status: ${status}, error: ${error} },\n`
    })
  return [
    '/** The error codes by name, with the status and `error` of the response. */\n',
    `export const errorCodes = {\n${lines.join('')}} as const\n\n`,
    '/** The name of an error code, such as `plant-exists`. */\n',
    'export type ErrorCode = keyof typeof errorCodes\n',
  ].join('')
}

function collectErrors(node: unknown, errors: Map<string, number>): void {
  if (typeof node !== 'object' || node === null) return
  for (const [name, member] of Object.entries(node)) {
    const { error } = propertiesOf(propertiesOf(member).value)
    if (typeof error === 'number') errors.set(name, error)
    collectErrors(member, errors)
  }
}

/** Judges every answer that a test receives by the contract, and nothing but the contract. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import type { ContractDocument } from '../../src/contract/contract.ts'
import { loadContract } from '../../src/contract/contract.ts'

export interface Answer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

interface ResponseObject {
  $ref?: string
  headers?: Record<string, { $ref?: string; required?: boolean; schema?: object }>
  content?: Record<string, { schema: object }>
}

type Document = ContractDocument & {
  'x-responses-outside-operations': Record<string, ResponseObject>
  components: object
}

/** Health and docs are not in the contract; what they refuse is answered as everywhere. */
const OPEN = /^\/(health|documentation)\b/

export const contract = loadContract() as Document

const ajv = new Ajv2020({ strict: false, allErrors: true })
ajvFormats.default(ajv)
ajv.addSchema({ $id: 'contract', components: contract.components })
const validators = new Map<string, ValidateFunction>()

/** Every status that the contract documents for an operation. */
export function documentedStatuses(): { operation: string; status: number }[] {
  return Object.values(contract.paths).flatMap((item) =>
    Object.values(item).flatMap(({ operationId = '', responses }) =>
      Object.keys(responses).map((status) => ({ operation: operationId, status: Number(status) })),
    ),
  )
}

/**
 * @throws Error saying what about the answer the contract does not document. `method` may be unknown,
 *   when the request was not well-formed enough to have one.
 */
export function checkAnswer(method: string | undefined, path: string | undefined, answer: Answer) {
  const { status, headers, body } = answer
  if (status < 400 && OPEN.test(path ?? '')) return
  const response = documented(method, path, status)
  if (response === undefined) {
    throw new Error(`${status} is not documented for ${method} ${path}: ${body}`)
  }
  for (const [name, reference] of Object.entries(response.headers ?? {})) {
    const { required = false } = resolve(reference)
    const value = headers[name.toLowerCase()]
    if (required && !value) throw new Error(`${status} needs the header ${name}`)
  }
  for (const name of ['server', 'x-powered-by']) {
    if (headers[name] !== undefined) throw new Error(`the header ${name} tells too much`)
  }
  const content = response.content?.['application/json']
  if (content === undefined) {
    if (body !== '') throw new Error(`${status} has no body in the contract, but: ${body}`)
    return
  }
  if (headers['content-type'] !== 'application/json') {
    throw new Error(`the content type of ${status} is ${headers['content-type']}`)
  }
  if (method === 'HEAD') return
  const value = JSON.parse(body)
  const errors = schemaErrors(content.schema, value)
  if (errors !== undefined) throw new Error(`${errors}: ${body}`)
  const error = status >= 400 ? (value as { error: number }).error : undefined
  if (error !== undefined && Math.trunc(error / 100) !== status) {
    throw new Error(`the error ${error} is not one of the status ${status}`)
  }
}

/** A schema of the contract, with what it refers to in place. */
export function schemaOf(name: string): object {
  const inPlace = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(inPlace)
    if (typeof node !== 'object' || node === null) return node
    const entries = Object.entries(resolve(node)).map(([key, value]) => [key, inPlace(value)])
    return Object.fromEntries(entries)
  }
  return inPlace({ $ref: `#/components/schemas/${name}` }) as object
}

/** The response in the contract; outside of an operation any status that could be nobody's. */
function documented(method = '', path = '', status: number): ResponseObject | undefined {
  const item = contract.paths[path.replace(/\?.*/s, '')]
  const operation = item?.[method.toLowerCase()]
  const responses: Record<string, unknown>[] = operation
    ? [operation.responses]
    : [
        contract['x-responses-outside-operations'],
        ...Object.values(contract.paths)
          .flatMap((each) => Object.values(each))
          .map(({ responses }) =>
            Object.fromEntries(
              ['400', '401', '408', '413', '431', '500', '503'].map((code) => [
                code,
                responses[code],
              ]),
            ),
          ),
      ]
  const found = responses.map((each) => each[status]).find((each) => each !== undefined)
  return found === undefined ? undefined : resolve(found as ResponseObject)
}

function resolve<T extends { $ref?: string }>(object: T): T {
  if (object.$ref === undefined) return object
  const keys = object.$ref.replace('#/', '').split('/')
  return keys.reduce(
    (node, key) => (node as Record<string, unknown>)[key],
    contract as unknown,
  ) as T
}

/** Why a value violates a schema of the contract, if it does. */
export function schemaErrors(schema: object, value: unknown): string | undefined {
  const validate = validatorOf(schema)
  return validate(value) ? undefined : ajv.errorsText(validate.errors)
}

function validatorOf(schema: object): ValidateFunction {
  const key = JSON.stringify(schema)
  const known = validators.get(key)
  if (known !== undefined) return known
  const validate = ajv.compile(closed(JSON.parse(key.replaceAll('"#/', '"contract#/'))))
  validators.set(key, validate)
  return validate
}

/** An answer has the members that the contract names and no other, though a request may have more. */
function closed(schema: { items?: object }): object {
  const { items } = schema
  return items ? { ...schema, items: closed(items) } : { ...schema, unevaluatedProperties: false }
}

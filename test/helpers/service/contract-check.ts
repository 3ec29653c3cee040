/** Checks every response that a test receives against the contract alone. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import type { ContractDocument } from '../../../core/contract/contract.ts'
import { loadContract } from '../../../core/contract/contract.ts'

export interface Answer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

type Headers = Record<
  string,
  { required?: boolean; schema: { type: string; examples?: readonly unknown[] } }
>

interface ResponseObject {
  headers?: Headers
  content?: Record<string, { schema: object; examples: Record<string, { value: unknown }> }>
}

type Responses = Record<string, ResponseObject>

type Document = ContractDocument & {
  webhooks: Record<string, object>
  'x-responses-outside-operations': Responses
  'x-open-paths': Readonly<Record<string, readonly number[]>>
  'x-responses-to-preflights': Responses
  'x-general-headers': Headers
  'x-cors-headers': Headers
  components: { schemas: Record<string, object> }
}

/** Headers that HTTP itself adds. */
const GENERAL = ['connection', 'content-length', 'content-type', 'date', 'keep-alive']

const EVENT_STREAM = 'text/event-stream'

export const contract = loadContract() as Document

/** The contract with all references resolved. */
const whole = dereference(contract)

const ajv = new Ajv2020({ strict: false, allErrors: true, ownProperties: true })
ajvFormats.default(ajv)
const validators = new Map<string, ValidateFunction>()

/** The operations of the contract with all references resolved. */
export function operations() {
  return Object.values(whole.paths)
    .flatMap((item) => Object.values(item))
    .filter(({ operationId }) => operationId !== undefined)
    .map((operation) => ({ ...operation, responses: operation.responses as Responses }))
}

/** The contract's responses to requests that belong to no operation. */
export function responsesOutsideOperations(): Responses {
  return whole['x-responses-outside-operations']
}

/** A schema of a contract with all references resolved. */
export function schemaOf(name: string, document: ContractDocument = contract): object {
  return dereference(document.components.schemas[name] as object, document)
}

/**
 * Checks a response against a contract.
 *
 * @param method undefined if the request was too malformed to have one
 * @throws Error naming the part of the response that the contract does not document
 */
export type AnswerCheck = (
  method: string | undefined,
  path: string | undefined,
  answer: Answer,
) => void

/** Checks a response against the contract. */
export const checkAnswer = answerCheck(contract)

/** Prepares to check responses against a contract with own fields. */
export function answerCheck(document: ContractDocument): AnswerCheck {
  const all = dereference(document) as Document
  return (method, path, answer) => check(all, { method, path, answer })
}

interface Exchange {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly answer: Answer
}

function check(document: Document, exchange: Exchange) {
  const { method, path, answer } = exchange
  const { status, body } = answer
  if (isOpen(document, path, status)) return
  const response = documented(document, exchange)
  if (response === undefined) {
    throw new Error(`${status} is not documented for ${method} ${path}: ${body}`)
  }
  checkHeaders(document, response, answer)
  if (answer.headers['content-type'] === EVENT_STREAM) return checkStream(response, answer)
  const schema = response.content?.['application/json']?.schema
  if (schema === undefined) return checkNoContent(answer)
  checkFraming(method, answer)
  if (method === 'HEAD') return
  const value = JSON.parse(body)
  const errors = schemaErrors(schema, value)
  if (errors !== undefined) throw new Error(`${errors}: ${body}`)
  const error = status >= 400 ? (value as { error: number }).error : undefined
  if (error !== undefined && Math.trunc(error / 100) !== status) {
    throw new Error(`error ${error} does not belong to status ${status}`)
  }
  if (error !== undefined && (value as { message: string }).message === '') {
    throw new Error(`the error ${error} has no message`)
  }
}

/** Whether the path needs no token, and the contract documents nothing but the status of its response. */
function isOpen(document: Document, path = '', status: number): boolean {
  const found = Object.entries(document['x-open-paths']).find(([open]) =>
    open.endsWith('*') ? path.startsWith(open.slice(0, -1)) : open === path.replace(/\?.*/s, ''),
  )
  return found?.[1].includes(status) ?? false
}

/** A response has only the headers that the contract documents for it, and their values match the schemas. */
function checkHeaders(document: Document, response: ResponseObject, { status, headers }: Answer) {
  const isStream = headers['content-type'] === EVENT_STREAM
  const known = new Set(isStream ? [...GENERAL, 'transfer-encoding'] : GENERAL)
  if (headers.date === undefined) throw new Error(`${status} has no Date (RFC 9110 §6.6.1)`)
  const documented = {
    ...response.headers,
    ...document['x-general-headers'],
    ...document['x-cors-headers'],
  }
  for (const [name, { required = false, schema }] of Object.entries(documented)) {
    const value = headers[name.toLowerCase()]
    known.add(name.toLowerCase())
    if (value === undefined && !required) continue
    const errors = schemaErrors(schema, schema.type === 'integer' ? Number(value) : value)
    if (errors !== undefined) throw new Error(`the header ${name} of ${status}: ${errors}`)
  }
  for (const [name, value] of Object.entries(headers)) {
    if (!known.has(name)) throw new Error(`${status} has the undocumented header ${name}: ${value}`)
  }
}

function checkStream({ content }: ResponseObject, { headers }: Answer): void {
  if (content?.[EVENT_STREAM] === undefined) throw new Error('a stream is not documented')
  if (headers['content-length'] !== undefined) throw new Error('a stream has no length')
  if (headers.link !== undefined) throw new Error('a stream has no next page')
}

/** RFC 9110 §8.6: a 204 has no Content-Length, and a 304 can only have that of the 200. */
function checkNoContent({ status, headers, body }: Answer): void {
  const { 'content-length': length, 'content-type': type } = headers
  if (body !== '' || length !== undefined || type !== undefined) {
    throw new Error(`${status} must have no content, but has: ${type} ${length} ${body}`)
  }
}

function checkFraming(method: string | undefined, { status, headers, body }: Answer): void {
  const { 'content-length': length, 'content-type': type } = headers
  if (type !== 'application/json') throw new Error(`the content type of ${status} is ${type}`)
  const sent = Buffer.byteLength(body)
  const right = method === 'HEAD' ? sent === 0 && Number(length) > 0 : sent === Number(length)
  if (!right)
    throw new Error(`${method}: Content-Length is ${length}, but the content has ${sent} bytes`)
}

/** The response in the contract. */
function documented(
  document: Document,
  { method = '', path = '', answer: { status, headers } }: Exchange,
): ResponseObject | undefined {
  // HEAD has the responses of GET (RFC 9110 §9.3.2).
  const name = method === 'HEAD' ? 'get' : method.toLowerCase()
  if (method === 'OPTIONS' && status === 204 && isFromCors(headers)) {
    return document['x-responses-to-preflights'][status]
  }
  const operation = itemAt(document, path.replace(/\?.*/s, ''))?.[name]
  if (operation !== undefined) return (operation.responses as Responses)[status]
  if (status === 204 && method !== 'OPTIONS') return undefined
  return document['x-responses-outside-operations'][status]
}

/** Whether a 204 is the response to a preflight. Any other OPTIONS gets `Allow`. */
function isFromCors({ allow, vary, 'access-control-allow-origin': origin }: Answer['headers']) {
  return allow === undefined && (vary === 'Origin' || origin === '*')
}

function itemAt({ paths }: Document, path: string) {
  const segments = path.split('/')
  const fits = (part: string, index: number) => part.startsWith('{') || part === segments[index]
  return Object.entries(paths).find(([template]) => {
    const parts = template.split('/')
    return parts.length === segments.length && parts.every(fits)
  })?.[1]
}

/** Why a value violates a schema of the contract; undefined if it does not. */
export function schemaErrors(schema: object, value: unknown): string | undefined {
  const validate = validatorOf(schema)
  return validate(value) ? undefined : ajv.errorsText(validate.errors)
}

function validatorOf(schema: object): ValidateFunction {
  const key = JSON.stringify(schema)
  const known = validators.get(key)
  if (known !== undefined) return known
  const validate = ajv.compile(rejectUnknownMembers(schema))
  validators.set(key, validate)
  return validate
}

/** A schema that rejects undocumented members, which only requests can have. */
function rejectUnknownMembers(schema: { items?: object }): object {
  const { items } = schema
  return items
    ? { ...schema, items: rejectUnknownMembers(items) }
    : { ...schema, unevaluatedProperties: false }
}

/** A part of a document with all references resolved. They must not be circular. */
export function dereference<Part extends object>(part: Part, document: object = part): Part {
  const inPlace = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(inPlace)
    if (typeof node !== 'object' || node === null) return node
    if ('$ref' in node) return inPlace(at(String(node.$ref)))
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, inPlace(value)]))
  }
  const at = (reference: string) => {
    const keys = reference.replace('#/', '').split('/')
    return keys.reduce((node, key) => (node as Record<string, unknown>)[key], document as unknown)
  }
  return inPlace(part) as Part
}

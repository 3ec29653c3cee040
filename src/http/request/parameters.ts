import type {
  FastifyRequest,
  FastifySchemaCompiler,
  FastifySchemaValidationError,
  RouteOptions,
} from 'fastify'
import type { Schema } from '../../../core/contract/contract.ts'
import { parseFilterName } from '../../../core/contract/field-parameters.ts'
import { bodyCompiler, parameterCompiler } from '../../../core/contract/validators.ts'
import { known, propertiesOf } from '../../../core/known.ts'
import { listAlternatives } from '../../../core/members/value-rules.ts'
import { ApiError } from '../responses/api-error.ts'

declare module 'fastify' {
  interface FastifySchemaValidationError {
    /** Ajv adds it with the option `verbose`. */
    readonly parentSchema?: { readonly [keyword: string]: unknown } | undefined
  }
}

/** The parts of a request that Fastify validates before the body. */
const PARTS = ['params', 'querystring', 'headers'] as const

/** Their names in messages. */
const PART_NAMES: Readonly<Record<string, string>> = {
  params: 'path parameter',
  querystring: 'query parameter',
  headers: 'header',
}

const compileBody = bodyCompiler()
const compileParameters = parameterCompiler()

/**
 * A Fastify validator compiler for the parts of a request that the contract has schemas for. The services of a process
 * share its validators, because compiling them takes longer than the rest of a start.
 */
export const compileValidator: FastifySchemaCompiler<Schema> = ({ schema, httpPart }) => {
  if (httpPart === 'body') return compileBody(schema)
  return compileParameters(httpPart === 'headers' ? withLowerCaseNames(schema) : schema)
}

/** Node passes the names of headers in lower case. */
function withLowerCaseNames(schema: Schema): Schema {
  const properties = Object.entries({ ...schema.properties })
  const lowerCase = properties.map(([name, property]) => [name.toLowerCase(), property])
  return { ...schema, properties: Object.fromEntries(lowerCase) }
}

/** The error for the first invalid parameter of a request, before its body is read; undefined if all are valid. */
export function firstParameterError(request: FastifyRequest): ApiError | undefined {
  const { params, query, headers } = request
  const values = { params, querystring: query, headers }
  for (const part of PARTS) {
    const validate = request.getValidationFunction(part)
    if (validate?.(values[part]) === false) return parameterError(part, known(validate.errors?.[0]))
  }
  return undefined
}

/**
 * The error for a part of a request that violates its schema, from Ajv's first error. A Fastify `schemaErrorFormatter`.
 *
 * @param part `body`, `params`, `querystring` or `headers`
 */
export function validationError(errors: FastifySchemaValidationError[], part: string): ApiError {
  const first = known(errors[0])
  return part === 'body' ? bodyError(first) : parameterError(part, first)
}

function parameterError(part: string, error: FastifySchemaValidationError): ApiError {
  const message = `the ${PART_NAMES[part]} ${describeParameterError(error)}`
  return new ApiError('invalid-parameter', message)
}

/** Describes what a parameter must be, as in `limit must be an integer`. */
export function describeParameterError(error: FastifySchemaValidationError): string {
  // The path of an item of a list also has its index.
  const [, token = ''] = error.instancePath.split('/')
  const name = token.replaceAll('~1', '/').replaceAll('~0', '~')
  const advice =
    name === 'sort' ? ' (the operator makes other properties sortable by x-sortable)' : ''
  return `${name} ${expectation(error)}${advice}`
}

function expectation(error: FastifySchemaValidationError): string | undefined {
  const { keyword, message, params, parentSchema } = error
  if (Array.isArray(parentSchema?.enum)) return `must be ${listAlternatives(parentSchema.enum)}`
  if (keyword === 'pattern') return patternExpectation(error)
  if (keyword === 'maxLength') return `must not have more than ${params.limit} characters`
  if (keyword === 'minLength') return 'must not be empty'
  if (keyword === 'maxItems') return `must not be repeated more than ${params.limit} times`
  return message
}

/** The contract's title for a pattern is easier to understand than the pattern. */
function patternExpectation({ parentSchema }: FastifySchemaValidationError): string {
  return `must be ${parentSchema?.title}`
}

/** The longest name of an unknown property that a message quotes. */
const QUOTED_NAME_MAX = 50

/** Replaces some of Ajv's messages, by keyword. */
const BODY_MESSAGES: Readonly<Record<string, (error: FastifySchemaValidationError) => string>> = {
  // Ajv joins several types with a bare comma.
  type: ({ params }) => `must be ${listAlternatives([params.type].flat())}`,
  enum: ({ params }) => `must be ${listAlternatives([params.allowedValues].flat())}`,
  minItems: ({ params }) => `must have ${params.limit} or more items`,
  maxItems: ({ params }) => `must have ${params.limit} or fewer items`,
  pattern: patternExpectation,
  unevaluatedProperties: ({ params }) => {
    const name = String(params.unevaluatedProperty).slice(0, QUOTED_NAME_MAX).toWellFormed()
    return `must not have the property '${name}'`
  },
}

function bodyError(error: FastifySchemaValidationError): ApiError {
  return new ApiError('invalid-body', describeViolation('body', error))
}

/**
 * Describes how JSON violates its schema, as in `body/17/name must be string`.
 *
 * @param name what the JSON is called
 */
export function describeViolation(name: string, error: FastifySchemaValidationError): string {
  const { keyword, instancePath, message } = error
  return `${name}${instancePath} ${BODY_MESSAGES[keyword]?.(error) ?? message}`
}

/**
 * Preconditions that must not be ignored (RFC 9110 §13.2.1), because the client would believe that they held. Those
 * with a date do not apply, because plants have no modification date.
 */
const PRECONDITIONS = ['If-Match', 'If-None-Match']

/** Headers that an operation rejects, in lower case, each with the message for the client. */
type RejectedHeaders = readonly (readonly [name: string, message: string])[]

/**
 * Makes a route reject the query parameters and preconditions that the contract does not define for its operation,
 * before the body is read. An `onRoute` hook.
 */
export function rejectUndefinedParameters(route: RouteOptions): void {
  const query = new Set(listNames(route.schema?.querystring))
  const lists = new Set(listArrays(route.schema?.querystring))
  const headers = rejectedHeaders(route)
  route.onRequest = (request, _reply, next) =>
    next(queryError(request, query, lists) ?? undefinedHeaderError(request, headers))
}

/** The names of the parameters that can be repeated. */
function listArrays(schema: unknown): readonly string[] {
  const { properties = {} } = propertiesOf(schema) as Schema
  return Object.keys(properties).filter((name) => properties[name]?.type === 'array')
}

function listNames(schema: unknown): readonly string[] {
  return Object.keys(propertiesOf(propertiesOf(schema).properties))
}

function rejectedHeaders({ method, schema }: RouteOptions): RejectedHeaders {
  const defined = listNames(schema?.headers)
  const advice = preconditionAdvice(String(method), defined)
  const unsupported = PRECONDITIONS.filter((name) => !defined.includes(name))
  const rejected = unsupported.map((name) => ({ name, advice }))
  // RFC 9110 §14.5: a partial PUT would replace the whole plant with a part of it.
  if (method === 'PUT') rejected.push({ name: 'Content-Range', advice: 'send the whole plant' })
  return rejected.map(({ name, advice }) => [
    name.toLowerCase(),
    `this operation does not accept ${name}; ${advice}`,
  ])
}

/** Why an unsupported precondition is unnecessary, or what to use instead. */
function preconditionAdvice(method: string, defined: readonly string[]): string {
  if (defined.includes('If-Match')) return 'use If-Match with the ETag that you read'
  if (method === 'PATCH')
    return 'use ifMatch or ifContent in each change, or the op create, which never changes an existing plant'
  return method === 'POST' ? 'it never changes an existing plant' : 'its response has no ETag'
}

function queryError(
  { url, query }: FastifyRequest,
  names: ReadonlySet<string>,
  lists: ReadonlySet<string>,
): ApiError | undefined {
  try {
    // Fastify leaves invalid sequences undecoded.
    if (url.includes('%')) decodeURIComponent(url)
  } catch {
    return new ApiError('malformed-request', 'the query is not valid percent-encoded UTF-8')
  }
  const values = propertiesOf(query)
  for (const name in values) {
    if (!names.has(name)) return unknownParameter(name, names)
    if (Array.isArray(values[name]) && !lists.has(name)) {
      return new ApiError('invalid-parameter', `the query parameter ${name} must not be repeated`)
    }
  }
  return undefined
}

function unknownParameter(name: string, names: ReadonlySet<string>): ApiError {
  const general = [...names].filter((each) => parseFilterName(each) === undefined)
  const accepted = names.size === 0 ? 'no query parameters' : general.join(', ')
  // There can be hundreds, with long names.
  const filters =
    names.size > general.length ? ', and filters by the own fields of the contract' : ''
  return new ApiError(
    'invalid-parameter',
    `unknown query parameter "${name}": this operation accepts ${accepted}${filters}`,
  )
}

function undefinedHeaderError(
  { headers }: FastifyRequest,
  rejected: RejectedHeaders,
): ApiError | undefined {
  for (const [name, message] of rejected) {
    if (headers[name] !== undefined) return new ApiError('invalid-parameter', message)
  }
  return undefined
}

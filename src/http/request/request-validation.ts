import type {
  FastifyError,
  FastifyRequest,
  FastifySchemaCompiler,
  FastifySchemaValidationError,
} from 'fastify'
import type { Schema } from '../../../contract/contract.ts'
import { bodyCompiler, parameterCompiler } from '../../../contract/validators.ts'
import { ApiError } from '../responses/api-error.ts'

/** The names, in messages, of the parts of a request that Fastify validates, except the body. */
const PART_NAMES: Readonly<Record<string, string>> = {
  params: 'path parameter',
  querystring: 'query parameter',
  headers: 'header',
}

/** A Fastify validator compiler for the parts of a request that the contract has schemas for. */
export function requestValidators(): FastifySchemaCompiler<Schema> {
  const compileBody = bodyCompiler()
  const compileParameters = parameterCompiler()
  return ({ schema, httpPart }) => {
    if (httpPart === 'body') return compileBody(schema)
    return compileParameters(httpPart === 'headers' ? withLowerCaseNames(schema) : schema)
  }
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
  for (const [part, values] of Object.entries({ params, querystring: query, headers })) {
    const validate = request.getValidationFunction(part as 'params')
    if (validate?.(values) !== false) continue
    const [first] = validate.errors as [FastifySchemaValidationError]
    return parameterError(part, first)
  }
  return undefined
}

/** The error for a part of a request that violates its schema, from Ajv's first error. */
export function validationError({ validation, validationContext }: FastifyError): ApiError {
  const [first] = validation as [FastifySchemaValidationError]
  return validationContext === 'body'
    ? bodyError(first)
    : parameterError(String(validationContext), first)
}

function parameterError(part: string, error: FastifySchemaValidationError): ApiError {
  const partName = PART_NAMES[part]
  // That of an item of a list also has its index.
  const [, name] = error.instancePath.split('/')
  const message = `the ${partName} ${name} ${expectation(error as VerboseError)}`
  return new ApiError('invalid-parameter', message)
}

function expectation({ keyword, message, params, parentSchema }: VerboseError): string | undefined {
  // The contract's title for a pattern is easier to understand than the pattern.
  if (keyword === 'pattern') return `must be ${parentSchema.title}`
  if (keyword === 'maxLength') return `must not have more than ${params.limit} characters`
  if (keyword === 'minLength') return 'must not be empty'
  if (keyword === 'maxItems') return `must not be repeated more than ${params.limit} times`
  return message
}

/** With the option `verbose`, Ajv adds the schema. */
interface VerboseError extends FastifySchemaValidationError {
  readonly parentSchema: { title?: string }
}

/** Replaces some of Ajv's messages, by keyword. */
const BODY_MESSAGES: Readonly<
  Record<string, (parameters: FastifySchemaValidationError['params']) => string>
> = {
  // Ajv joins several types with a bare comma.
  type: ({ type }) => `must be ${[type].flat().join(' or ')}`,
  minItems: ({ limit }) => `must have ${limit} or more items`,
  maxItems: ({ limit }) => `must have ${limit} or fewer items`,
}

function bodyError(error: FastifySchemaValidationError): ApiError {
  const { keyword, instancePath, params, message } = error
  const expected = BODY_MESSAGES[keyword]?.(params) ?? message
  return new ApiError('invalid-body', `body${instancePath} ${expected}`)
}

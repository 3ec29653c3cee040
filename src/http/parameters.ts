import type {
  FastifyInstance,
  FastifyRequest,
  FastifySchemaValidationError,
  RouteOptions,
} from 'fastify'
import { ApiError } from './api-error.ts'

/** The parts of a request that are parameters, in our words, by Fastify's names for them. */
const PARTS: Readonly<Record<string, string>> = {
  params: 'path parameter',
  querystring: 'query parameter',
  headers: 'header',
}

/**
 * Preconditions that must not be ignored (RFC 9110 §13.2.1), because the client would believe that they held. Those
 * with a date do not apply, because plants have no modification date.
 */
const PRECONDITIONS = ['If-Match', 'If-None-Match']

/** Headers that an operation rejects, in lower case, each with the message for the client. */
type Refused = readonly (readonly [header: string, message: string])[]

/**
 * Rejects query parameters and preconditions that the contract does not define for an operation, before the body is
 * read. Applies to the scope of the contract's routes.
 */
export function refuseUnnamedParameters(scope: FastifyInstance): void {
  scope.addHook('onRoute', (route) => {
    const query = namesIn(route.schema?.querystring)
    const headers = refusedHeaders(route)
    route.onRequest = (request, _reply, next) =>
      next(queryFailure(request, query) ?? headerFailure(request, headers))
  })
}

function namesIn(schema: unknown): readonly string[] {
  return Object.keys((schema as { properties?: object } | undefined)?.properties ?? {})
}

function refusedHeaders({ method, schema }: RouteOptions): Refused {
  const named = namesIn(schema?.headers)
  const advice = preconditionAdvice(String(method), named)
  const unnamed = PRECONDITIONS.filter((name) => !named.includes(name))
  const refused = unnamed.map((name) => ({ name, advice }))
  // RFC 9110 §14.5: a partial PUT would replace the whole plant with a part of it.
  if (method === 'PUT') refused.push({ name: 'Content-Range', advice: 'send the whole plant' })
  return refused.map(({ name, advice }) => [
    name.toLowerCase(),
    `this operation does not accept ${name}; ${advice}`,
  ])
}

/** Why an unsupported precondition is unnecessary, or which one to use instead. */
function preconditionAdvice(method: string, named: readonly string[]): string {
  if (named.includes('If-Match')) return 'use If-Match with the ETag that you read'
  return method === 'POST' ? 'it never changes an existing plant' : 'its response has no ETag'
}

function queryFailure(
  { url, query }: FastifyRequest,
  names: readonly string[],
): ApiError | undefined {
  try {
    // Fastify takes what it cannot decode as it is.
    if (url.includes('%')) decodeURIComponent(url)
  } catch {
    return new ApiError('malformed-request', 'the query is not percent-encoded UTF-8')
  }
  const values = query as Record<string, unknown>
  for (const name in values) {
    if (!names.includes(name)) return unknownParameter(name, names)
    if (Array.isArray(values[name])) {
      return new ApiError('invalid-parameter', `the query parameter ${name} must be given once`)
    }
  }
  return undefined
}

function unknownParameter(name: string, names: readonly string[]): ApiError {
  const known = names.length === 0 ? 'no query parameters' : names.join(', ')
  return new ApiError(
    'invalid-parameter',
    `unknown query parameter "${name}": this operation has ${known}`,
  )
}

function headerFailure({ headers }: FastifyRequest, refused: Refused): ApiError | undefined {
  for (const [name, message] of refused) {
    if (headers[name] !== undefined) return new ApiError('invalid-parameter', message)
  }
  return undefined
}

/** What is wrong with a parameter, as Ajv found it; undefined if it was not a parameter. */
export function parameterFailure(
  part = '',
  error: FastifySchemaValidationError,
): ApiError | undefined {
  const what = PARTS[part]
  if (what === undefined) return undefined
  const { keyword, instancePath, message, parentSchema } = error as Verbose
  // A pattern says less to people than what the contract calls it.
  const wanted = keyword === 'pattern' ? `must be ${parentSchema.title}` : message
  return new ApiError('invalid-parameter', `the ${what} ${instancePath.slice(1)} ${wanted}`)
}

interface Verbose extends FastifySchemaValidationError {
  readonly parentSchema: { title?: string }
}

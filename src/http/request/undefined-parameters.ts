import type { FastifyRequest, RouteOptions } from 'fastify'
import type { Schema } from '../../../contract/contract.ts'
import { ApiError } from '../responses/api-error.ts'

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
  const query = listNames(route.schema?.querystring)
  const lists = listArrays(route.schema?.querystring)
  const headers = rejectedHeaders(route)
  route.onRequest = (request, _reply, next) =>
    next(queryError(request, query, lists) ?? undefinedHeaderError(request, headers))
}

/** The names of the parameters that can be repeated. */
function listArrays(schema: unknown): readonly string[] {
  const { properties = {} } = (schema as Schema | undefined) ?? {}
  return Object.keys(properties).filter((name) => properties[name]?.type === 'array')
}

function listNames(schema: unknown): readonly string[] {
  return Object.keys((schema as Schema | undefined)?.properties ?? {})
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

/** Why an unsupported precondition is unnecessary, or which one to use instead. */
function preconditionAdvice(method: string, defined: readonly string[]): string {
  if (defined.includes('If-Match')) return 'use If-Match with the ETag that you read'
  return method === 'POST' ? 'it never changes an existing plant' : 'its response has no ETag'
}

function queryError(
  { url, query }: FastifyRequest,
  names: readonly string[],
  lists: readonly string[],
): ApiError | undefined {
  try {
    // Fastify leaves invalid sequences undecoded.
    if (url.includes('%')) decodeURIComponent(url)
  } catch {
    return new ApiError('malformed-request', 'the query is not valid percent-encoded UTF-8')
  }
  const values = query as Record<string, unknown>
  for (const name in values) {
    if (!names.includes(name)) return unknownParameter(name, names)
    if (Array.isArray(values[name]) && !lists.includes(name)) {
      return new ApiError('invalid-parameter', `the query parameter ${name} must not be repeated`)
    }
  }
  return undefined
}

function unknownParameter(name: string, names: readonly string[]): ApiError {
  const known = names.length === 0 ? 'no query parameters' : names.join(', ')
  return new ApiError(
    'invalid-parameter',
    `unknown query parameter "${name}": this operation accepts ${known}`,
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

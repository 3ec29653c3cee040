import type { FastifyInstance, FastifyRequest, FastifySchemaValidationError } from 'fastify'
import { Failure } from './failure.ts'

/** The parts of a request that are parameters, in our words, by Fastify's names for them. */
const PARTS: Readonly<Record<string, string>> = {
  params: 'path parameter',
  querystring: 'query parameter',
  headers: 'header',
}

/**
 * Refuses a query that has no one meaning, where the contract says what may be in it. In the scope of the
 * contract's routes.
 */
export function readExactQuery(scope: FastifyInstance): void {
  scope.addHook('onRoute', (route) => {
    if (route.schema?.querystring === undefined) return
    route.preValidation = (request, _reply, next) => next(refusalOf(request))
  })
}

function refusalOf({ url, query }: FastifyRequest): Failure | undefined {
  try {
    // Fastify takes what it cannot decode as it is.
    decodeURIComponent(url)
  } catch {
    return new Failure('malformed-request', 'the query is not percent-encoded UTF-8')
  }
  for (const [name, value] of Object.entries(query as object)) {
    if (Array.isArray(value)) {
      return new Failure('invalid-parameter', `the query parameter ${name} must be given once`)
    }
  }
  return undefined
}

/** What is wrong with a parameter, as Ajv found it; undefined if it was not a parameter. */
export function parameterFailure(
  part = '',
  error: FastifySchemaValidationError,
): Failure | undefined {
  const what = PARTS[part]
  if (what === undefined) return undefined
  const { keyword, instancePath, message, params, parentSchema } = error as Verbose
  if (keyword === 'additionalProperties') {
    const known = Object.keys(parentSchema.properties as object).join(', ')
    const unknown = params.additionalProperty
    return new Failure(
      'invalid-parameter',
      `there is no query parameter ${unknown}; there are: ${known}`,
    )
  }
  // A pattern says less to people than what the contract calls it.
  const wanted = keyword === 'pattern' ? `must be ${parentSchema.title}` : message
  return new Failure('invalid-parameter', `the ${what} ${instancePath.slice(1)} ${wanted}`)
}

interface Verbose extends FastifySchemaValidationError {
  readonly parentSchema: { properties?: object; title?: string }
}

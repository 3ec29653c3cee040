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
  scope.addHook('preValidation', async (request) => {
    if (request.routeOptions.schema?.querystring === undefined) return
    refuseUndecodable(request)
    for (const [name, value] of Object.entries(request.query as object)) {
      if (Array.isArray(value)) {
        throw new Failure('invalid-parameter', `the query parameter ${name} must be given once`)
      }
    }
  })
}

/** Fastify takes what it cannot decode as it is. */
function refuseUndecodable({ url }: FastifyRequest): void {
  try {
    decodeURIComponent(url)
  } catch {
    throw new Failure('malformed-request', 'the query is not percent-encoded UTF-8')
  }
}

/** What is wrong with a parameter, as Ajv found it; undefined if it was not a parameter. */
export function parameterFailure(
  part = '',
  errors: readonly FastifySchemaValidationError[] = [],
): Failure | undefined {
  const [error] = errors
  const what = PARTS[part]
  if (what === undefined || error === undefined) return undefined
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

import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import openapiGlue from 'fastify-openapi-glue'
import type { ContractDocument, Operation } from '../contract/contract.ts'
import { matchOperations } from '../contract/contract.ts'
import type { ErrorCodeOf, Handlers, OperationId } from '../contract/operations.ts'
import { bodyShape } from '../contract/shape.ts'
import { compileValidators } from '../contract/validation.ts'
import { ApiError, sendFailure, sendJson } from './api-error.ts'
import { readExactJson } from './body.ts'
import type { BodyReaderOptions } from './body-reader.ts'
import { entityTag, expectedVersions, isKnown } from './conditional.ts'
import { refuseUnnamedParameters } from './parameters.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation of the contract that the route serves. */
    operation?: Operation
  }
}

/** What the operations have in common, whichever it is; `Handlers` has the types of each. */
type Handle = (request: object) => Promise<Failed | Done>

interface Failed {
  readonly failure: ErrorCodeOf<OperationId>
  readonly message: string
}

interface Done {
  readonly body?: object
  readonly version?: string
  readonly next?: object
}

/**
 * Routes each operation of the contract to its handler.
 *
 * @throws ContractError if contract and handlers do not match
 */
export async function serveOperations(
  app: FastifyInstance,
  document: ContractDocument,
  handlers: Handlers,
  bodies: Omit<BodyReaderOptions, 'shape'>,
): Promise<void> {
  const operations = matchOperations(document, handlers)
  await app.register(async (scope) => {
    readExactJson(scope, { ...bodies, shape: bodyShape(document) })
    refuseUnnamedParameters(scope)
    scope.setValidatorCompiler(compileValidators())
    await scope.register(openapiGlue, {
      specification: document,
      operationResolver: (id, method) => ({
        ...routeOf(operations.get(id) as Operation, handlers),
        // Fastify would add HEAD by itself, but then says of a 304 that its content had no bytes.
        method: method === 'GET' ? ['GET', 'HEAD'] : method,
      }),
    })
  })
}

/** Glue adds the URL and the schemas, though its types ask us for them. */
function routeOf(operation: Operation, handlers: Handlers): RouteOptions {
  const handle = handlers[operation.id as OperationId].bind(handlers) as Handle
  const route: Pick<RouteOptions, 'config' | 'handler'> = {
    config: { operation },
    handler: async (request, reply) => {
      const { params, query, body, headers } = request
      const expected = expectedVersions(headers['if-match'])
      const answer = await handle({ params, query, body, expected })
      return 'failure' in answer
        ? sendFailure(reply, new ApiError(answer.failure, answer.message))
        : send(answer, operation.success, request, reply)
    },
  }
  return route as RouteOptions
}

function send(
  { body, version, next }: Done,
  success: number,
  { method, headers, query }: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const validators = version === undefined ? {} : validatorsOf(version)
  if (version !== undefined && (method === 'GET' || method === 'HEAD')) {
    const known = isKnown(version, headers['if-none-match'])
    if (known) return reply.code(304).headers(validators).send()
  }
  if (body === undefined) return reply.code(success).send()
  const link = next && { link: linkToNext({ ...(query as object), ...next }) }
  const serialize = reply.getSerializationFunction(String(success), 'application/json') as Serialize
  return sendJson(reply, success, body, { headers: { ...validators, ...link }, serialize })
}

/** Serializers for each successful response with content, from the contract's schemas. */
type Serialize = (value: object) => string

/** A response with an entity tag may be cached, but must be revalidated before each use. */
function validatorsOf(version: string) {
  return { etag: entityTag(version), 'cache-control': 'no-cache' }
}

/** RFC 8288. Relative to the URL of the request, whatever a proxy has made of that. */
function linkToNext(query: object): string {
  const parameters = Object.entries(query).map(([name, value]) => [name, String(value)])
  return `<?${new URLSearchParams(parameters)}>; rel="next"`
}

import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import openapiGlue from 'fastify-openapi-glue'
import type { ContractDocument, Operation } from '../contract/contract.ts'
import { matchOperations } from '../contract/contract.ts'
import type { ConditionOf, Handlers, OperationId } from '../contract/operations.ts'
import { bodyShape } from '../contract/shape.ts'
import { compileValidators } from '../contract/validation.ts'
import { readExactJson } from './body.ts'
import { entityTag, expectedVersions, isKnown } from './conditional.ts'
import { Failure, sendFailure, sendJson } from './failure.ts'
import { readExactQuery } from './parameters.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation of the contract that the route serves. */
    operation?: Operation
  }
}

/** What the operations have in common, whichever it is; `Handlers` has the types of each. */
type Handle = (request: object) => Promise<Failed | Done>

interface Failed {
  readonly failure: ConditionOf<OperationId>
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
): Promise<void> {
  const operations = matchOperations(document, handlers)
  await app.register(async (scope) => {
    readExactJson(scope, bodyShape(document))
    readExactQuery(scope)
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
      const { params, query, body } = request
      const answer = await handle({ params, query, body, expected: expectedVersions(request) })
      return 'failure' in answer
        ? sendFailure(reply, new Failure(answer.failure, answer.message))
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
  if (next !== undefined) reply.header('link', linkToNext({ ...(query as object), ...next }))
  if (version !== undefined) {
    reply.header('etag', entityTag(version))
    const reading = method === 'GET' || method === 'HEAD'
    if (reading && isKnown(version, headers['if-none-match'])) return reply.code(304).send()
  }
  if (body === undefined) return reply.code(success).send()
  const serialize = reply.getSerializationFunction(String(success), 'application/json')
  return sendJson(reply, success, body, serialize)
}

/** RFC 8288. Relative to the URL of the request, whatever a proxy has made of that. */
function linkToNext(query: object): string {
  const parameters = Object.entries(query).map(([name, value]) => [name, String(value)])
  return `<?${new URLSearchParams(parameters)}>; rel="next"`
}

import type { FastifyInstance, RouteOptions } from 'fastify'
import openapiGlue from 'fastify-openapi-glue'
import type { ContractDocument, Operation } from '../contract/contract.ts'
import { matchOperations } from '../contract/contract.ts'
import type { Handlers, OperationId, OperationRequest } from '../contract/operations.ts'
import { compileValidators } from '../contract/validation.ts'
import { readExactJson } from './body.ts'
import { Failure, sendFailure, sendJson } from './failure.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation of the contract that the route serves. */
    operation?: Operation
  }
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
    readExactJson(scope)
    scope.setValidatorCompiler(compileValidators())
    await scope.register(openapiGlue, {
      specification: document,
      operationResolver: (id) => routeOf(operations.get(id) as Operation, handlers),
    })
  })
}

/** Glue adds the method, the URL and the schemas, though its types ask us for them. */
function routeOf(operation: Operation, handlers: Handlers): RouteOptions {
  const success = String(operation.success)
  const handle = handlers[operation.id as OperationId].bind(handlers)
  const route: Pick<RouteOptions, 'config' | 'handler'> = {
    config: { operation },
    handler: async (request, reply) => {
      const answer = await handle(request as OperationRequest<OperationId>)
      if ('failure' in answer) {
        return sendFailure(reply, new Failure(answer.failure, answer.message))
      }
      const serialize = reply.getSerializationFunction(success, 'application/json')
      return sendJson(reply, operation.success, answer.body, serialize)
    },
  }
  return route as RouteOptions
}

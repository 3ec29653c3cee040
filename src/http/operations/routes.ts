import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import openapiGlue from 'fastify-openapi-glue'
import type { ContractDocument, Operation } from '../../../contract/contract.ts'
import { forSerializer, matchOperations } from '../../../contract/contract.ts'
import type { Handlers, OperationId } from '../../../contract/operation-types.ts'
import { ApiError } from '../api-error.ts'
import { readExactJson } from '../request/body.ts'
import type { BodyReaderOptions } from '../request/body-reader.ts'
import { rejectUndefinedParameters } from '../request/parameters.ts'
import { entityTag, expectedVersions, isKnown } from './conditional.ts'
import { type Follow, followPages } from './follow-pages.ts'
import type { Followers } from './followers.ts'
import type { Handle, Success } from './handle.ts'
import { sendError, sendJson, serialize } from './response.ts'
import { requestValidators } from './validators.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation of the contract that the route serves. */
    operation?: Operation
  }
}

/**
 * Routes each operation of the contract to the handler with its `operationId`.
 *
 * @throws ContractError if the contract and the handlers do not match
 */
export async function serveOperations(
  app: FastifyInstance,
  document: ContractDocument,
  handlers: Handlers,
  bodyOptions: BodyReaderOptions,
  followers: Followers,
): Promise<void> {
  const operations = matchOperations(document, handlers)
  const follow = (handle: Handle) => followPages(handle, followers)
  await app.register(async (scope) => {
    readExactJson(scope, bodyOptions)
    rejectUndefinedParameters(scope)
    scope.setValidatorCompiler(requestValidators())
    await scope.register(openapiGlue, {
      // It warns about each media type that has no body parser, including those of responses.
      specification: forSerializer(document),
      operationResolver: (id, method) => ({
        ...toRoute(operations.get(id) as Operation, handlers, follow),
        // Fastify's automatic HEAD routes send `Content-Length: 0` with a 304.
        method: method === 'GET' ? ['GET', 'HEAD'] : method,
      }),
    })
  })
}

/**
 * The handler's part of a route. fastify-openapi-glue adds the URL and schemas, although its types require them here.
 */
function toRoute(
  operation: Operation,
  handlers: Handlers,
  toFollow: (handle: Handle) => Follow,
): RouteOptions {
  const handle = handlers[operation.id as OperationId].bind(handlers) as Handle
  const follow = operation.isFollowable ? toFollow(handle) : undefined
  const route: Pick<RouteOptions, 'config' | 'handler'> = {
    config: { operation },
    handler: async (request, reply) => {
      const { params, query, body, headers } = request
      const expected = expectedVersions(headers['if-match'])
      const answer = await (follow?.(request, reply) ?? handle({ params, query, body, expected }))
      if (answer === undefined) return reply
      return 'failure' in answer
        ? sendError(reply, new ApiError(answer.failure, answer.message))
        : send(answer, operation.success, request, reply)
    },
  }
  return route as RouteOptions
}

function send(
  { body, version, next }: Success,
  status: number,
  { method, headers, query }: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const validators = version === undefined ? {} : validatorHeaders(version)
  if (version !== undefined && (method === 'GET' || method === 'HEAD')) {
    const known = isKnown(version, headers['if-none-match'])
    if (known) return reply.code(304).headers(validators).send()
  }
  if (body === undefined) return reply.code(status).send()
  const link = next && { link: linkToNext({ ...(query as object), ...next }) }
  const json = typeof body === 'string' ? body : serialize(body, reply, status)
  return sendJson(reply, status, json, { ...validators, ...link })
}

/** A response with an entity tag may be cached, but must be revalidated before each use. */
function validatorHeaders(version: string) {
  return { etag: entityTag(version), 'cache-control': 'no-cache' }
}

/** The value of `Link` (RFC 8288), relative to the request's URL, which a proxy may have changed. */
function linkToNext(query: object): string {
  const parameters = Object.entries(query).map(([name, value]) => `${name}=${encode(value)}`)
  return `<?${parameters.join('&')}>; rel="next"`
}

/** Encodes only characters that a query cannot contain or that have a special meaning there (RFC 3986 §3.4). */
function encode(value: unknown): string {
  return encodeURIComponent(String(value))
    .replace(/%(?:2[4CF]|3[ABDF]|40)/g, decodeURIComponent)
    .replaceAll('%20', '+')
}

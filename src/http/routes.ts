import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import {
  type ContractDocument,
  matchOperations,
  type Operation,
} from '../../core/contract/contract.ts'
import type {
  AnyFailure,
  AnyRequest,
  AnyResult,
  AnySuccess,
  Client,
  Handler,
  Handlers,
  OperationId,
  PlantCount,
} from '../../core/contract/operation-types.ts'
import type { Grant } from '../../core/contract/scopes.ts'
import { known } from '../../core/known.ts'
import { entityTag } from '../../core/members/plant-version.ts'
import type { Follow, Serve } from './following/follow-changes.ts'
import { operationError } from './responses/api-error.ts'
import { expectedVersions, hasWeakTag, isKnown, sendError, sendJson } from './responses/response.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation of the contract that the route serves. */
    operation?: Operation
  }
}

interface Parameters {
  readonly [name: string]: unknown
}

/** A request that has passed validation. */
type ValidRequest = FastifyRequest<{ Params: Parameters; Querystring: Parameters }>

/**
 * Returns the `operationResolver` of fastify-openapi-glue, which serves the route of each operation with the handler of
 * its `operationId`.
 *
 * @param follow serves the operations that can be followed
 * @throws ContractError if the contract and the handlers do not match
 */
export function resolveOperations(document: ContractDocument, handlers: Handlers, follow: Follow) {
  const operations = matchOperations(document, handlers)
  return (id: string, method: string): RouteOptions => {
    const operation = known(operations.get(id))
    const handler = handlers[id as OperationId].bind(handlers) as Handler
    const serve = operation.isFollowable ? (follow as Serve<AnyRequest>) : handler
    const route = {
      method: method === 'GET' ? ['GET', 'HEAD'] : method,
      config: { operation },
      handler: async (request: ValidRequest, reply: FastifyReply) => {
        const { params, query, headers, body } = request
        const expected = expectedVersions(headers['if-match'])
        const parts = { params, query, headers, body, expected }
        const client = new WaitingClient(request, reply)
        const result = await serve(parts, client, request, reply)
        // Returns nothing: a reply is thenable, so Fastify would wait for it.
        if (result !== undefined) respond(result, operation, request, reply)
      },
    }
    // fastify-openapi-glue adds the URL and the schemas.
    return route as RouteOptions
  }
}

/** Sends the result of an operation. */
function respond(
  result: AnyResult,
  { success }: Operation,
  request: ValidRequest,
  reply: FastifyReply,
): void {
  if ('failure' in result) sendError(reply, operationError(withReason(result, request)))
  else sendSuccess(result, success, request, reply)
}

/** A weak tag in `If-Match` never matches, whatever the plant is. */
function withReason(failure: AnyFailure, { headers }: ValidRequest): AnyFailure {
  if (failure.failure !== 'plant-changed' || !hasWeakTag(headers['if-match'])) return failure
  const message =
    'If-Match has a weak ETag, which never matches: remove its W/, which a proxy that compresses ' +
    'responses adds, or turn off compression of JSON in the proxy'
  return { ...failure, message }
}

function sendSuccess(
  { body, version, next, count }: AnySuccess,
  status: number,
  { method, headers, query }: ValidRequest,
  reply: FastifyReply,
): void {
  const added: Record<string, string> = {}
  if (version !== undefined) {
    // A response with an entity tag may be cached, but must be revalidated before each use.
    added.etag = entityTag(version)
    added['cache-control'] = 'no-cache'
    const isRead = method === 'GET' || method === 'HEAD'
    if (isRead && isKnown(version, headers['if-none-match'])) {
      reply.code(304).headers(added).send()
      return
    }
  }
  if (body === undefined) {
    reply.code(status).send()
    return
  }
  if (next !== undefined) added.link = linkToNext({ ...query, ...next })
  if (count !== undefined) added['plant-count'] = toPlantCount(count)
  const json = typeof body === 'string' ? body : JSON.stringify(body)
  sendJson(reply, status, json, added)
}

/** The value of `Plant-Count`: an integer, with a parameter if it is a lower bound (RFC 9651 §3.3). */
function toPlantCount({ plants, isExact }: PlantCount): string {
  return isExact ? String(plants) : `${plants};at-least`
}

/** The value of `Link` (RFC 8288), relative to the request's URL, which a proxy may have changed. */
function linkToNext(query: object): string {
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((each) => `${encode(name).replaceAll('=', '%3D')}=${encode(each)}`),
  )
  return `<?${parameters.join('&')}>; rel="next"`
}

/** Encodes only characters that a query cannot contain or that have a special meaning there (RFC 3986 §3.4). */
function encode(value: unknown): string {
  return encodeURIComponent(String(value))
    .replace(/%(?:2[4CF]|3[ABDF]|40)/g, decodeURIComponent)
    .replaceAll('%20', '+')
}

/** The client of a request in flight. */
class WaitingClient implements Client {
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply

  constructor(request: FastifyRequest, reply: FastifyReply) {
    this.#request = request
    this.#reply = reply
  }

  get grant(): Grant {
    return known(this.#request.grant)
  }

  isGone(): boolean {
    return !this.#request.raw.socket.readable || this.#reply.raw.destroyed
  }
}

import type { FastifyInstance } from 'fastify'
import openapiGlue from 'fastify-openapi-glue'
import {
  type ContractDocument,
  plantMembers,
  withoutResponses,
} from '../../core/contract/contract.ts'
import type { Client } from '../../core/contract/operation-types.ts'
import type { Clock } from '../../core/time/clock.ts'
import { PlantCodec } from '../../service/plant-codec.ts'
import { PlantService } from '../../service/plant-service.ts'
import { ReadQueues } from '../../service/read-queue.ts'
import type { RestrictionReader } from '../../service/restriction.ts'
import { SharedFeed } from '../../service/shared-feed.ts'
import type { ChangesRequest } from '../../service/store/change-feed.ts'
import type { RequestStore } from '../../service/store/plant-store.ts'
import type { AccessTokens } from '../auth/access-tokens.ts'
import type { Config } from '../config/config.ts'
import { serveDocs } from './docs/docs.ts'
import { followChanges } from './following/follow-changes.ts'
import { Followers } from './following/followers.ts'
import { reportHealth } from './health.ts'
import { serveRoot } from './page.ts'
import { ProtectedResource } from './protected-resource.ts'
import { admitRequest, Paths, routeError } from './request/admission.ts'
import { authenticateBearers } from './request/authentication.ts'
import { bodyMethods, bodyReader, checkBodyHead, JSON_TYPES } from './request/body.ts'
import { Cors, serveCors } from './request/cors.ts'
import {
  compileValidator,
  rejectUndefinedParameters,
  validationError,
} from './request/parameters.ts'
import { handleErrors } from './responses/error-handler.ts'
import { logRequests } from './responses/request-log.ts'
import { limitResponses, setCommonHeaders } from './responses/response.ts'
import { StaticFiles } from './responses/static-file.ts'
import { resolveOperations } from './routes.ts'
import { createFastify, type ServerOptions } from './sockets/server.ts'

/** Makes the requests of a store for tests fail on demand, and records them. */
export interface FaultHooks {
  /** Adds hooks for all requests that need a token. */
  record(app: FastifyInstance): void
  /**
   * Adds hooks for valid requests for operations.
   *
   * @param feed what followers read
   */
  inject(scope: FastifyInstance, feed: Pick<SharedFeed, 'forgetPages'>): void
}

export interface AppOptions extends Omit<ServerOptions, 'config' | 'bodyMethods' | 'cors'> {
  readonly config: Config
  readonly contract: ContractDocument
  /** The names of stored fields that the contract does not have. */
  readonly hiddenFields?: readonly string[]
  readonly store: RequestStore & RestrictionReader
  readonly tokens: AccessTokens
  /** Resolves if the service can serve requests. */
  readonly checkReady: () => Promise<void>
  /** How many threads share the limits of the process, which are divided by their number. */
  readonly threads: number
  /** Only in a store for tests. */
  readonly faults?: FaultHooks | undefined
  /** For the limits on memory. */
  readonly clock?: Pick<Clock, 'monotonic'>
}

/**
 * Builds the application: everything that happens to a request, in order. Each stage passes the request on or ends it.
 * The comment on a stage lists the statuses with which it can end a request; api-error.ts explains how an error becomes
 * a response. The application does not listen yet, and closing it does not close the store.
 *
 * @throws ContractError if the contract and the handlers do not match
 */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const { config, contract, store, tokens, certificate, threads, faults, clock } = options
  const { bodyLimit, corsOrigin, docs } = config
  const cors = corsOrigin === undefined ? undefined : new Cors(corsOrigin, contract)

  // The socket: 400, 408, 431 and 505, for malformed, slow and oversized requests.
  const app = createFastify({ ...options, bodyMethods: bodyMethods(contract), cors })
  const paths = new Paths(app)
  logRequests(app, config.logRequests)
  limitResponses(app, threads, clock)
  const hasIssuer = config.oidcIssuer !== undefined
  const resource = hasIssuer ? new ProtectedResource(app, config, certificate) : undefined
  await authenticateBearers(app, tokens, config, resource)
  app.decorateRequest('operation')

  // The errors of all stages: in addition to those listed, 503 if the store is unavailable, and 500 for a bug.
  handleErrors(app)
  // Reached only through `reply.callNotFound`, as for an unknown file of the docs.
  app.setNotFoundHandler((request) => {
    throw routeError(request, undefined)
  })

  app.addHook('onRequest', setCommonHeaders)
  // Responds to preflights, which have no token: 204.
  if (cors !== undefined) serveCors(app, cors)
  faults?.record(app)
  // Authentication: 401, 403, 429, 503.
  // Then the head and the route: 400, 404, 405, 421, 501, 505, or 204 for OPTIONS.
  app.addHook('onRequest', admitRequest(paths))

  // Without a token
  reportHealth(app, options.checkReady, faults !== undefined)
  resource?.serve(app)
  const files = new StaticFiles(threads, clock)
  serveRoot(app, files, config, contract)
  if (docs) await serveDocs(app, files, config, contract)

  // The operations of the contract
  await app.register(async (scope) => {
    // Parameters that the operation does not define: 400.
    scope.addHook('onRoute', rejectUndefinedParameters)
    // The headers of the body, before it is read: 413, 415. A missing body: 400.
    scope.addHook('onRoute', checkBodyHead(bodyLimit))
    // The body, as JSON with exact numbers: 400, 413, 503.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(JSON_TYPES, bodyReader({ contract, bodyLimit, threads, clock }))
    // Content in a DELETE has no meaning (RFC 9110 §9.3.5), as in a GET.
    scope.addHttpMethod('DELETE', { hasBody: false, overrideExisting: true })
    // Validation against the contract: 400.
    scope.setValidatorCompiler(compileValidator)
    scope.setSchemaErrorFormatter(validationError)
    // Faults: every error that the contract documents for the operation.
    const feed = new SharedFeed(store)
    faults?.inject(scope, feed)
    // The operation and its response: what the contract documents for each, and 304.
    const reads = new ReadQueues()
    const codec = new PlantCodec(plantMembers(contract), options.hiddenFields)
    const service = new PlantService(store, reads, codec)
    const readFor = (client: Client) => (request: ChangesRequest) =>
      reads.of(request.limit).take(client, () => store.readChanges(request))
    const follow = followChanges(service, feed, readFor, new Followers(app, tokens), codec)
    await scope.register(openapiGlue, {
      specification: withoutResponses(contract),
      operationResolver: resolveOperations(contract, service, follow),
    })
  })
  paths.routeOtherMethods()

  return app
}

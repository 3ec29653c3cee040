import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, {
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyServerOptions,
} from 'fastify'
import { AccessTokens } from '../service/access-tokens.ts'
import { PlantService } from '../service/plant-service.ts'
import type { PlantStore } from '../service/plant-store.ts'
import type { TokenStore } from '../service/token-store.ts'
import type { Config } from './config/config.ts'
import { loadContract } from './contract/contract.ts'
import { admit, MAX_PARAMETER, refuseUrl } from './http/admission.ts'
import { type Authenticate, bearerAuthentication } from './http/authentication.ts'
import { ByteBudget } from './http/byte-budget.ts'
import type { Certificate } from './http/certificate.ts'
import {
  answerClientErrors,
  refuseConnect,
  refuseTinyChunks,
  refuseUnknownMethods,
} from './http/client-errors.ts'
import { serveInTurn } from './http/connections.ts'
import { serveDocs } from './http/docs.ts'
import { handleErrors } from './http/error-handler.ts'
import { reportHealth } from './http/health.ts'
import { serveOperations } from './http/operations.ts'
import { rewriteUrlTargets } from './http/request-head.ts'
import { logRequestIds, logRequests, noRequestLog } from './http/request-log.ts'
import { RequestScheduler } from './http/request-scheduler.ts'
import { addCommonHeaders, newRequestId } from './http/response-headers.ts'
import { abortStalledResponses } from './http/stalled-responses.ts'
import { overTls, serveTls } from './http/tls.ts'

/** Bytes of all request bodies in flight, not counting small ones. */
const REQUEST_BYTES_MAX = 2 ** 26

/** Bytes of all responses waiting for clients, not counting small ones. */
const RESPONSE_BYTES_MAX = 2 ** 26

export interface AppOptions {
  readonly config: Config
  readonly store: PlantStore & TokenStore
  /** As Fastify has it; without it nothing is logged. */
  readonly logger?: FastifyServerOptions['logger']
  /** Monotonic clock in milliseconds, for the request queue. */
  readonly now?: () => number
  /** The configured certificate. Without one the service speaks plain HTTP. */
  readonly certificate?: Certificate | undefined
}

/**
 * Builds the application: not listening yet, the store stays the caller's to close.
 *
 * @throws ContractError if the contract and its handlers do not match
 */
export async function buildApp({
  config,
  store,
  logger,
  now,
  certificate,
}: AppOptions): Promise<FastifyInstance> {
  const contract = loadContract()
  const tokens = new AccessTokens(store, config.token)
  let authenticate: Authenticate
  const options: FastifyHttpOptions<Server> = {
    logger: logger ?? false,
    logController: noRequestLog,
    genReqId: newRequestId,
    trustProxy: config.trustProxy ?? false,
    routerOptions: { maxParamLength: MAX_PARAMETER },
    requestTimeout: config.requestTimeout,
    http: {
      // What is buffered of each body and response before a client is told to wait.
      highWaterMark: 2 ** 14,
      // Fastify sets it too, but only when Node has compared the next one with its own default.
      requestTimeout: config.requestTimeout,
      headersTimeout: config.requestTimeout,
      // How often Node looks for requests that take too long.
      connectionsCheckingInterval: Math.min(1000, config.requestTimeout),
      // Node would refuse without a body what `admit` refuses with one.
      requireHostHeader: false,
    },
    // A request that still comes over an open connection is served, and the connection then closed.
    return503OnClosing: false,
    clientErrorHandler: answerClientErrors(config.requestTimeout),
    frameworkErrors: (...refused) => refuseUrl(authenticate)(...refused),
  }
  const app = Fastify(certificate ? overTls(options, certificate) : options)
  if (certificate !== undefined) serveTls(app, certificate)
  const connections = new Set<Socket>()
  const scheduler = new RequestScheduler(now)
  app.server.maxConnections = config.maxConnections
  app.decorate('responseBudget', new ByteBudget(RESPONSE_BYTES_MAX))
  logRequestIds(app)
  logRequests(app, config.logRequests)
  refuseUnknownMethods(app.server)
  serveInTurn(app.server, connections)
  takeEveryRequest(app.server)
  refuseTinyChunks(app.server)
  rewriteUrlTargets(app.server)
  abortStalledResponses(app, connections, config.responseTimeout)
  app.addHook('onRequest', (request, reply, next) => {
    addCommonHeaders(request, reply)
    next()
  })
  handleErrors(app)
  authenticate = await bearerAuthentication(app, tokens, config)
  admit(app, authenticate, scheduler)
  reportHealth(app, store)
  if (config.docs) serveDocs(app, contract)
  await serveOperations(app, contract, new PlantService(store), {
    limit: config.bodyLimit,
    budget: new ByteBudget(Math.max(REQUEST_BYTES_MAX, config.bodyLimit)),
    scheduler,
  })
  return app
}

/** Node answers some requests by itself, in ways that no contract has. */
function takeEveryRequest(server: Server): void {
  // `Expect: 100-continue` is answered when the body is wanted; any other expectation is ignored, as
  // RFC 9110 §10.1.1 allows.
  for (const event of ['checkContinue', 'checkExpectation']) {
    server.on(event, (request, response) => server.emit('request', request, response))
  }
  server.on('connect', refuseConnect)
  // A client may end its side behind its last request and still wants the answer.
  Object.assign(server, { httpAllowHalfOpen: true })
}

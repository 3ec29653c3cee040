import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { ContractDocument } from '../contract/contract.ts'
import type { AccessTokens } from '../service/access-tokens.ts'
import { PlantService } from '../service/plant-service.ts'
import type { RequestStore } from '../service/plant-store.ts'
import type { Config } from './config/config.ts'
import { serveDocs } from './http/docs/docs.ts'
import { handleErrors } from './http/error-handler.ts'
import { reportHealth } from './http/health.ts'
import { Followers } from './http/operations/followers.ts'
import { limitResponses } from './http/operations/response.ts'
import { setCommonHeaders } from './http/operations/response-headers.ts'
import { serveOperations } from './http/operations/routes.ts'
import { admitRequests } from './http/request/admission.ts'
import { authenticateBearers } from './http/request/authentication.ts'
import type { Clock } from './http/request/byte-budget.ts'
import { Cors, serveCors } from './http/request/cors.ts'
import { logRequestIds, logRequests } from './http/request/request-log.ts'
import type { Certificate } from './http/server/certificate.ts'
import { createServer } from './http/server/server.ts'
import { SharedState } from './shared-memory/shared-state.ts'

export interface AppOptions {
  readonly config: Config
  readonly contract: ContractDocument
  readonly store: RequestStore
  readonly tokens: AccessTokens
  /** Without it, nothing is logged. */
  readonly log?: FastifyBaseLogger | undefined
  /** Whether to log what all HTTP threads do alike, such as reloading the certificate. One of them must. */
  readonly logsForAll?: boolean
  /** The configured certificate. Without it, the service speaks plain HTTP. */
  readonly certificate?: Certificate | undefined
  /** State that HTTP threads share. Without it, the application shares nothing. */
  readonly shared?: SharedState
  /** Resolves if the service can serve requests. Without it, that depends on the store alone. */
  readonly checkReady?: () => Promise<void>
  /** How many threads share the limits of the process, which are divided by their number. 1 by default. */
  readonly threads?: number
  /** Clock of the limits on memory. */
  readonly now?: Clock
}

/**
 * Builds the application. It does not listen yet, and closing it does not close the store.
 *
 * @throws ContractError if the contract and the handlers do not match
 */
export async function buildApp({
  config,
  contract,
  store,
  tokens,
  log,
  logsForAll = true,
  certificate,
  shared = new SharedState(),
  checkReady = () => store.ping(),
  threads = 1,
  now,
}: AppOptions): Promise<FastifyInstance> {
  const { corsOrigin } = config
  const cors = corsOrigin === undefined ? undefined : new Cors(corsOrigin, contract)

  // Sockets and the HTTP server
  const isMeasured = config.adminPort !== undefined
  const parts = { config, contract, log, logsForAll, certificate, shared, cors, isMeasured }
  const app = createServer(parts)

  // All requests and responses
  logRequestIds(app)
  logRequests(app, config.logRequests)
  setCommonHeaders(app)
  if (cors !== undefined) serveCors(app, cors)
  limitResponses(app, threads, now)
  handleErrors(app, shared)

  // Authentication, before anything else is checked
  await authenticateBearers(app, tokens, config, shared)
  admitRequests(app)

  // Routes
  reportHealth(app, checkReady)
  if (config.docs) serveDocs(app, contract, threads, now)
  const { bodyLimit } = config
  const followers = new Followers(app, tokens, shared)
  const bodies = { bodyLimit, threads, now }
  await serveOperations(app, contract, new PlantService(store), bodies, followers)
  return app
}

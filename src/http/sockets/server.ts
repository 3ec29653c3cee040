import type { RequestListener, Server } from 'node:http'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  type FastifyInstance,
  LogController,
} from 'fastify'
import type { Config } from '../../config/config.ts'
import { createProblemLog } from '../../observing/log.ts'
import type { RequestMetrics } from '../../observing/request-metrics.ts'
import { PARAMETER_LENGTH_MAX, rejectBadUrls } from '../request/admission.ts'
import type { Cors } from '../request/cors.ts'
import { rewriteUrlTarget } from '../request/request-head.ts'
import { SMALL_MESSAGE_BYTES } from '../responses/byte-budget.ts'
import { newRequestId } from '../responses/response.ts'
import type { Certificate } from './certificate.ts'
import {
  HEADER_FIELDS_MAX,
  rejectConnect,
  rejectHead,
  rejectParserErrors,
  rejectTinyChunks,
} from './client-errors.ts'
import { ConnectionCounts, limitConnections } from './connection-limit.ts'
import { closeSlowConnections } from './connection-timeouts.ts'
import { oneRequestPerConnection } from './one-request.ts'
import { createSocketRejecter, type Reject } from './socket-errors.ts'
import { serveTls, withTls } from './tls.ts'

declare module 'fastify' {
  interface FastifyInstance {
    connectionCounts: ConnectionCounts
  }
}

/** How often Node checks for requests that take too long. */
const TIMEOUT_CHECK_MS = 1000

const RESPONSE_TIMEOUT_MS = 30_000

export interface ServerOptions {
  readonly config: Pick<
    Config,
    'trustProxy' | 'requestTimeout' | 'keepAliveTimeout' | 'maxConnections'
  >
  /** Methods whose operations read a body, in upper case. */
  readonly bodyMethods: ReadonlySet<string>
  /** Without it, nothing is logged. */
  readonly log?: FastifyBaseLogger | undefined
  /**
   * Whether to log what all HTTP threads do alike, such as reloading the certificate. One of them must. By default,
   * this one does.
   */
  readonly logsForAll?: boolean | undefined
  /** The configured certificate. Without it, the server speaks plain HTTP. */
  readonly certificate?: Certificate | undefined
  /** Undefined if CORS is off. */
  readonly cors?: Cors | undefined
  /** Without it, requests are not measured. */
  readonly requestMetrics?: RequestMetrics | undefined
  /** How long a client can leave a response unread before it is disconnected. 30 seconds by default. */
  readonly responseTimeoutMs?: number | undefined
}

/**
 * Creates the Fastify instance and sets up its HTTP server: limits, timeouts, TLS, and the cases in which Node would
 * respond on its own in a way that the contract does not document.
 */
export function createFastify({
  config,
  bodyMethods,
  log,
  certificate,
  logsForAll = true,
  cors,
  requestMetrics,
  responseTimeoutMs = RESPONSE_TIMEOUT_MS,
}: ServerOptions): FastifyInstance {
  const reject = createSocketRejecter(bodyMethods, requestMetrics, cors)
  const options = serverOptions(config, reject, cors)
  const app = Fastify(certificate ? withTls(options, certificate) : options)
  // With its option for a logger, Fastify creates one for each request and listens for the end of each response.
  if (log !== undefined) app.log = log
  if (certificate !== undefined) serveTls(app, certificate, logsForAll)
  const { server } = app
  app.decorate('requestMetrics', requestMetrics)
  const counts = new ConnectionCounts(config.maxConnections)
  app.decorate('connectionCounts', counts)
  const onProblem = createProblemLog(app.log)
  limitConnections(server, counts, () => {
    onProblem(`new connections are closed, because ${counts.max} are open`)
  })
  const { requestTimeout: requestTimeoutMs, trustProxy } = config
  const timeouts = { requestTimeoutMs, responseTimeoutMs }
  const isSecure = certificate !== undefined || trustProxy !== undefined
  const [serve] = server.listeners('request') as [RequestListener]
  const { admit, connections } = oneRequestPerConnection(timeouts, counts)
  // A single listener, because Node copies a list of several for each request. rejectTinyChunks and rejectHead end only
  // requests that Node accepts but Fastify must not see (client-errors.ts).
  server.off('request', serve).on('request', (request, response) => {
    rejectTinyChunks(request, reject)
    rewriteUrlTarget(request, isSecure)
    admit(request, response, () => {
      if (!rejectHead(request, response, cors)) serve(request, response)
    })
  })
  // One more than the limit, because most versions of Node drop further fields.
  server.maxHeadersCount = HEADER_FIELDS_MAX + 1
  closeSlowConnections(app, connections, timeouts)
  serveExpectations(server)
  rejectConnect(server, reject)
  requestMetrics?.watch(app)
  requestMetrics?.watchConnections(counts)
  // A client can end its side after its last request and still read the response. Node has no option for this
  // (nodejs/node#36819).
  Object.assign(server, { httpAllowHalfOpen: true })
  return app
}

function serverOptions(
  { trustProxy, requestTimeout, keepAliveTimeout }: ServerOptions['config'],
  reject: Reject,
  cors: Cors | undefined,
): FastifyHttpOptions<Server> {
  return {
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newRequestId,
    // They send `Content-Length: 0` with a 304, so each route names both methods.
    exposeHeadRoutes: false,
    trustProxy: trustProxy ?? false,
    routerOptions: { maxParamLength: PARAMETER_LENGTH_MAX },
    requestTimeout,
    keepAliveTimeout,
    http: {
      // How much Node buffers of a body or response before it applies backpressure.
      highWaterMark: SMALL_MESSAGE_BYTES,
      // Fastify sets this on the server, but too late: Node compares it with `headersTimeout` at creation.
      requestTimeout,
      headersTimeout: requestTimeout,
      connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, requestTimeout),
      // Node's 400 has no body; `headersError` gives it one.
      requireHostHeader: false,
      // Sets up no stream for a request without a body. Node ignores it before 24.12.
      optimizeEmptyRequests: true,
    },
    // During shutdown, a request on an open connection is served and the connection then closed.
    return503OnClosing: false,
    clientErrorHandler: rejectParserErrors(reject, requestTimeout),
    frameworkErrors: rejectBadUrls(cors),
  }
}

/**
 * Leaves `Expect` to `checkBodyHead`, which sends 100 only if the body is wanted. Unknown expectations are ignored, as
 * RFC 9110 §10.1.1 allows.
 */
function serveExpectations(server: Server): void {
  for (const event of ['checkContinue', 'checkExpectation']) {
    server.on(event, (request, response) => server.emit('request', request, response))
  }
}

import type { AddressInfo, Socket } from 'node:net'
import { isIP } from 'node:net'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import { known } from '../../../core/known.ts'
import type { ListenAddress } from '../../config/setting-values.ts'
import { isLoopback } from '../../system/loopback.ts'
import { countRepetitions, headersError } from '../request/request-head.ts'
import { ApiError } from '../responses/api-error.ts'
import { handleErrors } from '../responses/error-handler.ts'
import { getPath } from '../responses/request-log.ts'
import { limitResponses, setCommonHeaders } from '../responses/response.ts'
import { listenOn } from '../sockets/listener.ts'
import { createFastify } from '../sockets/server.ts'

/** Far more than a few scrapers and health checks need. */
const ADMIN_CONNECTIONS_MAX = 64

/** How long a request head can take to arrive. Operators' programs send it at once. */
const HEAD_TIMEOUT_MS = 2000

/** How long a connection can last in all. Prometheus waits as long for a response by default. */
const LIFETIME_MS = 10_000

const METHODS = ['GET', 'HEAD']

/** A successful response. */
export interface AdminResponse {
  readonly type: string
  readonly content: string
}

/** For each path, a function that resolves to the response. If it rejects, the response is 503 or 500. */
export type AdminPaths = { readonly [path: string]: () => Promise<AdminResponse> }

/** Routes that accept changes too, and check their bodies themselves. */
export interface AdminRoutes {
  /** The methods of each path. */
  readonly methods: { readonly [path: string]: readonly string[] }
  add(app: FastifyInstance): void
}

export interface AdminServerOptions {
  readonly address: ListenAddress
  readonly paths: AdminPaths
  readonly routes?: AdminRoutes | undefined
  readonly log: FastifyBaseLogger
  readonly headTimeoutMs?: number
  readonly lifetimeMs?: number
}

export interface AdminServer {
  /** @throws the system's error if the address is unavailable */
  listen(): Promise<AddressInfo>
  /** Closes all connections. Responses under way are cut off. */
  close(): Promise<void>
}

/**
 * Serves a few paths to operators, without tokens, on a separate port. Each connection serves one request, which has no
 * body unless it is a PUT, and has a limited lifetime, so that no client can hold much for long.
 */
export function createAdminServer({
  address,
  paths,
  routes,
  log,
  headTimeoutMs = HEAD_TIMEOUT_MS,
  lifetimeMs = LIFETIME_MS,
}: AdminServerOptions): AdminServer {
  const app = createFastify({
    config: {
      requestTimeout: headTimeoutMs,
      keepAliveTimeout: lifetimeMs,
      maxConnections: Number.POSITIVE_INFINITY,
    },
    bodyMethods: new Set(),
    log,
    responseTimeoutMs: lifetimeMs,
  })
  const connections = replaceOldestConnection(app, lifetimeMs)
  limitResponses(app, 1)
  app.decorate('authenticate', (_request, _reply, done) => done())
  handleErrors(app)
  app.addHook('onRequest', setCommonHeaders)
  const reads = Object.keys(paths).map((path): [string, readonly string[]] => [path, METHODS])
  const methods = new Map([...reads, ...Object.entries(routes?.methods ?? {})])
  app.addHook('onRequest', (request, _reply, next) =>
    next(requestError(request, methods, isLoopback(address.host))),
  )
  routes?.add(app)
  for (const [path, read] of Object.entries(paths)) {
    app.route({
      method: METHODS,
      url: path,
      handler: async (_request, reply) => {
        const { type, content } = await read()
        // Without a serializer Fastify adds a charset, which `application/json` does not have (RFC 8259 §11).
        return reply.header('content-type', type).serializer(String).send(content)
      },
    })
  }
  app.addHook('preClose', async () => {
    for (const connection of connections) connection.destroy()
  })
  return {
    listen: async () => {
      await app.ready()
      const { host, port } = address
      const { addresses } = await listenOn([app.server], { hosts: [host], port })
      return addresses[0]
    },
    close: () => app.close(),
  }
}

/**
 * Lets each connection serve one request, and limits its lifetime. When too many are open, a new one replaces one of the
 * others, so that slow clients cannot make a health check fail: preferably the one that has waited longest for its
 * client, to send a head or to read a response.
 *
 * @returns the open connections
 */
function replaceOldestConnection(app: FastifyInstance, lifetimeMs: number): ReadonlySet<Socket> {
  const open = new Set<Socket>()
  const waiting = new Set<Socket>()
  const forget = (connection: Socket) => {
    open.delete(connection)
    waiting.delete(connection)
  }
  app.server.on('connection', (connection: Socket) => {
    if (open.size === ADMIN_CONNECTIONS_MAX) {
      const replaced = known([...waiting, ...open][0])
      replaced.destroy()
      forget(replaced)
    }
    open.add(connection)
    waiting.add(connection)
    const timer = setTimeout(() => connection.destroy(), lifetimeMs).unref()
    connection.once('close', () => {
      clearTimeout(timer)
      forget(connection)
    })
  })
  app.server.prependListener('request', ({ socket }, response) => {
    waiting.delete(socket)
    response.shouldKeepAlive = false
  })
  app.addHook('onSend', async ({ raw: { socket } }) => {
    if (open.has(socket)) waiting.add(socket)
  })
  return open
}

/** Why a request cannot be served; undefined if it can. */
function requestError(
  request: FastifyRequest,
  methods: ReadonlyMap<string, readonly string[]>,
  isLocal: boolean,
): ApiError | undefined {
  const { raw, method, headers } = request
  const error = headersError(raw, countRepetitions(raw))
  if (error !== undefined) return error
  if (isLocal && !isLocalHost(headers.host)) {
    return new ApiError(
      'malformed-request',
      `the host ${headers.host} is not allowed: use localhost or an IP address`,
    )
  }
  const path = getPath(request)
  const allowed = methods.get(path)
  if (allowed === undefined) return new ApiError('unknown-path', `unknown path ${path}`)
  if (!allowed.includes(method)) {
    const allow = allowed.join(', ')
    return new ApiError('method-not-allowed', `${path} supports ${allow}`, { allow })
  }
  if (method === 'PUT') return undefined
  const length = headers['content-length'] ?? '0'
  if (headers['transfer-encoding'] === undefined && /^0+$/.test(length)) return undefined
  return new ApiError('body-too-large', 'expected a request without a body')
}

/**
 * Whether the host of a request can only be this machine. On a loopback address, only programs of this machine should
 * read them. Without this check, a web page could too, by giving its own host name an address of this machine (DNS
 * rebinding).
 */
function isLocalHost(authority = ''): boolean {
  const host = authority.replace(/:\d*$/, '')
  return host === '' || host.startsWith('[') || isIP(host) !== 0 || isLoopback(host)
}

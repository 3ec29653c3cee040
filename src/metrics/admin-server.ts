import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, isIP, type Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { StoreUnavailable } from '../../service/plant-store.ts'
import type { ListenAddress } from '../config/setting-values.ts'
import { ApiError, toErrorResponse, unavailable } from '../http/api-error.ts'
import { rejectConnect, rejectParserErrors } from '../http/server/client-errors.ts'
import { countRepetitions, headersError, rewriteUrlTargets } from '../http/server/request-head.ts'
import { createSocketRejecter, type Reject } from '../http/server/socket-errors.ts'
import { isLoopback } from '../loopback.ts'

/** Far more than a few scrapers and health checks need. */
const ADMIN_CONNECTIONS_MAX = 64

/** How long a request head can take to arrive. Operators' programs send it at once. */
const HEAD_TIMEOUT_MS = 2000

/** The longest interval between two checks for heads that are late. */
const TIMEOUT_CHECK_MS = 500

/** How long a connection can last in all. Prometheus waits as long for a response by default. */
const LIFETIME_MS = 10_000

const METHODS = ['GET', 'HEAD']

/** A successful response. */
export interface AdminPage {
  readonly type: string
  readonly content: string
}

export interface AdminServerOptions {
  readonly address: ListenAddress
  /** What each path responds with. A page that rejects becomes 503 or 500. */
  readonly pages: { readonly [path: string]: () => Promise<AdminPage> }
  readonly log: FastifyBaseLogger
  readonly headTimeoutMs?: number
  readonly lifetimeMs?: number
}

/**
 * Serves a few pages to operators, without tokens, on a separate port. Each connection serves one request without a
 * body and has a limited lifetime, so that no client can hold much for long. When too many connections are open, a new
 * one replaces the oldest, preferably one that has not sent a request, so that slow clients cannot make a health check
 * fail.
 */
export class AdminServer {
  readonly #options: AdminServerOptions
  readonly #server: Server
  /** Oldest first. */
  readonly #open = new Set<Socket>()
  /** Open connections that have not sent a complete head. */
  readonly #idle = new Set<Socket>()

  constructor(options: AdminServerOptions) {
    const { headTimeoutMs = HEAD_TIMEOUT_MS } = options
    this.#options = options
    const timeouts = {
      headersTimeout: headTimeoutMs,
      requestTimeout: headTimeoutMs,
      connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, headTimeoutMs),
    }
    this.#server = createServer({ ...timeouts, requireHostHeader: false })
    this.#server.on('connection', (connection: Socket) => this.#accept(connection))
    for (const event of ['request', 'checkContinue', 'checkExpectation']) {
      this.#server.on(event, (request, response) => this.#serve(request, response))
    }
    rewriteUrlTargets(this.#server, false)
    const rejectHead = createSocketRejecter(new Set())
    const reject: Reject = (connection, error) => {
      // After a request, whose response is the last one of the connection.
      if (this.#open.has(connection) && !this.#idle.delete(connection)) return
      rejectHead(connection, error)
    }
    this.#server.on('clientError', rejectParserErrors(reject, headTimeoutMs))
    rejectConnect(this.#server, reject)
  }

  /** @throws the system's error if the address is unavailable */
  async listen(): Promise<AddressInfo> {
    this.#server.listen(this.#options.address)
    await once(this.#server, 'listening')
    return this.#server.address() as AddressInfo
  }

  /** Closes all connections. Responses under way are cut off. */
  async close(): Promise<void> {
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    this.#server.close(() => resolve())
    for (const connection of this.#open) connection.destroy()
    await closed
  }

  #accept(connection: Socket): void {
    if (this.#open.size === ADMIN_CONNECTIONS_MAX) {
      const [replaced] = [...this.#idle, ...this.#open] as [Socket]
      replaced.destroy()
      this.#forget(replaced)
    }
    this.#open.add(connection)
    this.#idle.add(connection)
    const { lifetimeMs = LIFETIME_MS } = this.#options
    const timer = setTimeout(() => connection.destroy(), lifetimeMs).unref()
    connection.once('close', () => {
      clearTimeout(timer)
      this.#forget(connection)
    })
  }

  #forget(connection: Socket): void {
    this.#open.delete(connection)
    this.#idle.delete(connection)
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    if (!this.#idle.delete(socket)) {
      // The connection closes after the first response, so further requests are neither served nor read. The parser
      // resumes the connection after each request that it has already received, so it is paused again.
      socket.pause()
      setImmediate(() => socket.pause())
      return
    }
    response.shouldKeepAlive = false
    this.#respond(request).then(
      ({ type, content }) => send(response, 200, { 'content-type': type }, content),
      (error) => sendError(response, this.#toApiError(error)),
    )
  }

  async #respond(request: IncomingMessage): Promise<AdminPage> {
    const { method = '', url = '', headers } = request
    const error = headersError(request, countRepetitions(request)) ?? this.#hostError(headers.host)
    if (error !== undefined) throw error
    const path = url.replace(/\?.*/s, '')
    const { pages } = this.#options
    const read = Object.hasOwn(pages, path) ? pages[path] : undefined
    if (read === undefined) throw new ApiError('unknown-path', `unknown path ${path}`)
    if (!METHODS.includes(method)) {
      const allow = METHODS.join(', ')
      throw new ApiError('method-not-allowed', `${path} supports ${allow}`, { allow })
    }
    const length = headers['content-length'] ?? '0'
    if (headers['transfer-encoding'] !== undefined || !/^0+$/.test(length)) {
      throw new ApiError('body-too-large', 'expected a request without a body')
    }
    return read()
  }

  /**
   * On a loopback address, only programs of this machine should read the pages. Without this check, a web page could
   * too, by giving its own host name an address of this machine (DNS rebinding).
   */
  #hostError(authority = ''): ApiError | undefined {
    if (!isLoopback(this.#options.address.host)) return undefined
    const host = authority.replace(/:\d*$/, '')
    const isAddress = host.startsWith('[') || isIP(host) !== 0
    if (host === '' || isAddress || isLoopback(host)) return undefined
    return new ApiError(
      'malformed-request',
      `the host ${host} is not allowed: use localhost or an IP address`,
    )
  }

  #toApiError(error: unknown): ApiError {
    if (error instanceof ApiError) return error
    if (error instanceof StoreUnavailable) {
      this.#options.log.warn(error.message)
      return unavailable(error)
    }
    this.#options.log.error({ err: error }, 'internal error of the admin port')
    return new ApiError('internal-error', 'internal error: see the log of the service')
  }
}

function sendError(response: ServerResponse, error: ApiError): void {
  const { status, body } = toErrorResponse(error)
  const headers = { ...error.headers, 'content-type': 'application/json' }
  send(response, status, headers, JSON.stringify(body))
}

function send(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  content: string,
): void {
  const length = Buffer.byteLength(content)
  response.writeHead(status, {
    ...headers,
    'content-length': length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  // Node omits the content from the response to HEAD.
  response.end(content)
}

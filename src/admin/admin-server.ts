import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { StoreUnavailable } from '../../service/plant-store.ts'
import type { Endpoint } from '../config/setting-values.ts'
import { ApiError, toErrorResponse, unavailable } from '../http/api-error.ts'

/** Far more than a few scrapers and health checks need. */
const CONNECTIONS_MAX = 64

/** How long a connection can last in all. Prometheus waits as long for a response by default. */
const LIFETIME_MS = 10_000

const METHODS = ['GET', 'HEAD']

/** A successful response. */
export interface Page {
  readonly type: string
  readonly content: string
}

export interface AdminOptions {
  readonly endpoint: Endpoint
  /** What each path responds with. A page that rejects becomes 503 or 500. */
  readonly pages: { readonly [path: string]: () => Promise<Page> }
  readonly log: FastifyBaseLogger
  readonly lifetimeMs?: number
}

/**
 * Serves a few pages to operators, without tokens, on a port of its own. Each connection serves one request without a
 * body and has a limited lifetime, so that no client can hold much for long.
 */
export class AdminServer {
  readonly #options: AdminOptions
  readonly #server: Server
  /** Connections that have sent a request. */
  readonly #served = new WeakSet<Socket>()

  constructor(options: AdminOptions) {
    this.#options = options
    this.#server = createServer((request, response) => this.#serve(request, response))
    this.#server.maxConnections = CONNECTIONS_MAX
    this.#server.on('connection', (connection) => {
      const { lifetimeMs = LIFETIME_MS } = options
      const timer = setTimeout(() => connection.destroy(), lifetimeMs).unref()
      connection.once('close', () => clearTimeout(timer))
    })
  }

  /** @throws the system's error if the address is unavailable */
  async listen(): Promise<AddressInfo> {
    this.#server.listen(this.#options.endpoint)
    await once(this.#server, 'listening')
    return this.#server.address() as AddressInfo
  }

  /** Closes all connections. Responses under way are cut off. */
  async close(): Promise<void> {
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    this.#server.close(() => resolve())
    this.#server.closeAllConnections()
    await closed
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    if (this.#served.has(socket)) {
      socket.destroy()
      return
    }
    this.#served.add(socket)
    response.shouldKeepAlive = false
    this.#respond(request).then(
      ({ type, content }) => send(response, 200, { 'content-type': type }, content),
      (error) => sendError(response, this.#toApiError(error)),
    )
  }

  async #respond({ method = '', url = '', headers }: IncomingMessage): Promise<Page> {
    const path = url.replace(/\?.*/s, '')
    const { pages } = this.#options
    const read = Object.hasOwn(pages, path) ? pages[path] : undefined
    if (read === undefined) throw new ApiError('unknown-path', `unknown path ${path}`)
    if (!METHODS.includes(method)) {
      const allow = METHODS.join(', ')
      throw new ApiError('method-not-allowed', `${path} supports ${allow}`, { allow })
    }
    const length = headers['content-length'] ?? '0'
    if (headers['transfer-encoding'] !== undefined || length !== '0') {
      throw new ApiError('body-too-large', 'expected a request without a body')
    }
    return read()
  }

  #toApiError(error: unknown): ApiError {
    if (error instanceof ApiError) return error
    if (error instanceof StoreUnavailable) return unavailable(error)
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

/** CORS (https://fetch.spec.whatwg.org/#http-cors-protocol): which web apps on other origins can read responses. */
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  type ContractDocument,
  methodNames,
  responseHeaderNames,
} from '../../../core/contract/contract.ts'
import type { Origins } from '../../config/setting-values.ts'
import { countRepetitions, headersError } from './request-head.ts'

/** Two hours, the most that Chromium accepts. */
const MAX_AGE_SECONDS = 7200

/**
 * `Last-Event-ID` is what browsers send to resume an event stream. The last three (W3C Trace Context and W3C Baggage) are
 * not in the contract: instrumented apps add them to all requests.
 */
const REQUEST_HEADERS = [
  'Authorization',
  'Content-Type',
  'If-Match',
  'If-None-Match',
  'Last-Event-ID',
  'traceparent',
  'tracestate',
  'baggage',
]

/** A cache must not serve an allowed origin a response that lacks the CORS headers. */
const VARY = { vary: 'Origin' }

type Headers = Readonly<Record<string, string>>

/**
 * The CORS headers. @fastify/cors would add them in a hook, so responses outside Fastify's hooks would lack them, such
 * as those written directly to a socket.
 */
export class Cors {
  /** For each origin with headers of its own. */
  readonly #byOrigin: ReadonlyMap<string, Headers>
  /** For all other origins, and for requests without an origin. */
  readonly #others: Headers
  /** Added to the response to a preflight that is allowed. */
  readonly #permissions: Headers

  constructor(origins: Origins, contract: ContractDocument) {
    const allow = (origin: string) => ({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': responseHeaderNames(contract).join(', '),
    })
    const isOpen = origins === '*'
    this.#others = isOpen ? allow('*') : VARY
    this.#byOrigin = new Map(
      isOpen ? [] : origins.map((origin) => [origin, { ...allow(origin), ...VARY }]),
    )
    this.#permissions = {
      'access-control-allow-methods': methodNames(contract).join(', '),
      'access-control-allow-headers': REQUEST_HEADERS.join(', '),
      'access-control-max-age': String(MAX_AGE_SECONDS),
    }
  }

  /** The CORS headers of any response to a request, except that to a preflight. */
  headersFor({ headers }: IncomingMessage): Headers {
    return this.#byOrigin.get(headers.origin ?? '') ?? this.#others
  }

  /**
   * Adds the headers to a reply. A preflight gets the same response for every path, so that an app can read the response
   * to its own request, even if that is 404.
   *
   * @param next is called unless the response to a preflight was sent, with an error if its head is invalid
   */
  apply({ raw }: FastifyRequest, reply: FastifyReply, next: (error?: Error) => void): void {
    const headers = this.headersFor(raw)
    reply.headers(headers)
    const asks = isPreflight(raw)
    const error = asks ? headersError(raw, countRepetitions(raw)) : undefined
    if (asks && error === undefined) {
      if ('access-control-allow-origin' in headers) reply.headers(this.#permissions)
      reply.code(204).send()
    } else next(error)
  }
}

/** Adds the CORS headers to every response. Call it before authentication, because preflights have no token. */
export function serveCors(app: FastifyInstance, cors: Cors): void {
  app.addHook('onRequest', (request, reply, next) => cors.apply(request, reply, next))
}

/** Whether a browser asks for permission rather than sending the app's request. Other OPTIONS are ordinary requests. */
function isPreflight({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  )
}

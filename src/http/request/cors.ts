/** CORS (https://fetch.spec.whatwg.org/#http-cors-protocol): which web apps on other origins can read responses. */
import type { IncomingMessage } from 'node:http'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { ContractDocument } from '../../../contract/contract.ts'
import { methodNames, responseHeaderNames } from '../../../contract/names.ts'
import type { Origins } from '../../config/setting-values.ts'
import { countRepetitions, headersError } from '../server/request-head.ts'

/** Two hours, the most that Chromium accepts. */
const MAX_AGE_SECONDS = 7200

/** `traceparent` is not in the contract; `Last-Event-ID` is what browsers send to resume an event stream. */
const REQUEST_HEADERS = [
  'Authorization',
  'Content-Type',
  'If-Match',
  'If-None-Match',
  'Last-Event-ID',
  'traceparent',
]

const PREFLIGHT_HEADER = 'access-control-request-method'

type Headers = Readonly<Record<string, string>>

/** The CORS headers of responses to one origin. */
interface OriginHeaders {
  readonly actual: Headers
  readonly preflight: Headers
}

/** Adds the CORS headers to responses, and responds to preflights. */
export class Cors {
  readonly #byOrigin: ReadonlyMap<string, OriginHeaders>
  readonly #others: OriginHeaders

  /**
   * @param byOrigin for each origin with headers of its own
   * @param others for all other origins, and for requests without an origin
   */
  constructor(byOrigin: ReadonlyMap<string, OriginHeaders>, others: OriginHeaders) {
    this.#byOrigin = byOrigin
    this.#others = others
  }

  /** The CORS headers of any response to a request, except that to a preflight. */
  headersFor(request: IncomingMessage): Headers {
    return this.#find(request).actual
  }

  /**
   * Adds the headers to a reply. A preflight gets the same response for every path, so that an app can read the response
   * to its own request, even if that is 404.
   *
   * @param next is called unless the response to a preflight was sent, with an error if its head is invalid
   */
  apply({ raw }: FastifyRequest, reply: FastifyReply, next: (error?: Error) => void): void {
    const { actual, preflight } = this.#find(raw)
    reply.headers(actual)
    const asks = isPreflight(raw)
    const error = asks ? headersError(raw, countRepetitions(raw)) : undefined
    if (asks && error === undefined) reply.headers(preflight).code(204).send()
    else next(error)
  }

  #find({ headers }: IncomingMessage): OriginHeaders {
    return this.#byOrigin.get(headers.origin ?? '') ?? this.#others
  }
}

/** Adds the CORS headers to every response. Call it before authentication, because preflights have no token. */
export function serveCors(app: FastifyInstance, cors: Cors): void {
  app.addHook('onRequest', (request, reply, next) => cors.apply(request, reply, next))
}

/**
 * Prepares the headers for each allowed origin with @fastify/cors, in an application that never listens. In ours, its
 * hook would not run for responses outside Fastify's hooks, such as those written directly to a socket. It would also
 * treat every OPTIONS as a preflight, send some of the headers to any origin, and send `Content-Length` with a 204,
 * which RFC 9110 §8.6 forbids.
 */
export async function prepareCors(origins: Origins, contract: ContractDocument): Promise<Cors> {
  const app = Fastify()
  const { default: fastifyCors } = await import('@fastify/cors')
  await app.register(fastifyCors, {
    origin: origins === '*' ? origins : [...origins],
    methods: methodNames(contract),
    allowedHeaders: REQUEST_HEADERS,
    exposedHeaders: responseHeaderNames(contract),
    maxAge: MAX_AGE_SECONDS,
  })
  const ask = async (method: 'GET' | 'OPTIONS', origin: string): Promise<Headers> => {
    const request = { method, url: '/', headers: { origin, [PREFLIGHT_HEADER]: 'GET' } }
    const { headers } = await app.inject(request)
    const selected = Object.entries(headers).filter(([name]) =>
      /^(access-control-|vary$)/.test(name),
    )
    return Object.fromEntries(selected.map(([name, value]) => [name, String(value)]))
  }
  const headersOf = async (origin: string): Promise<OriginHeaders> => ({
    actual: await ask('GET', origin),
    preflight: await ask('OPTIONS', origin),
  })
  if (origins === '*') return new Cors(new Map(), await headersOf('https://any.example'))
  const byOrigin = new Map<string, OriginHeaders>()
  for (const origin of origins) byOrigin.set(origin, await headersOf(origin))
  // A cache must not serve an allowed origin a response that lacks the CORS headers.
  const others = { vary: 'Origin' }
  return new Cors(byOrigin, { actual: others, preflight: others })
}

/** Whether a browser asks for permission rather than sending the app's request. Other OPTIONS are ordinary requests. */
function isPreflight({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'OPTIONS' && headers.origin !== undefined && headers[PREFLIGHT_HEADER] !== undefined
  )
}

import openapiFetch, { type Client } from 'openapi-fetch'
import type { paths } from '../contract/api.gen.ts'
import { ConnectionError } from './errors.ts'
import { toJson } from './json.ts'
import { explainBlocked, parseUrl } from './origin.ts'
import type { FetchResult } from './responses.ts'
import { type RetryOptions, type WaitOptions, withRetries } from './retry.ts'

/**
 * Options of a client.
 *
 * @example
 * const options: ClientOptions = { url: 'https://example.com/plants', token, retries: 2, timeout: 5000 }
 */
export interface ClientOptions extends RetryOptions {
  /**
   * The base URL of the service, such as `http://127.0.0.1:3000` or `https://example.com/prefix`. In a browser, it can
   * be relative to the page, such as `/store`.
   */
  readonly url: string | URL
  /**
   * An access token with the scopes of the operations that you call, or a function that supplies one. It is called for
   * each attempt. What it throws, the call throws.
   */
  readonly token: string | (() => string | Promise<string>)
  /**
   * The function that sends each request. Replace it to use a proxy, for example.
   *
   * @default globalThis.fetch
   */
  readonly fetch?: Fetch | undefined
  /**
   * The names of own fields with `format: int64`. Their values become bigints; all other numbers stay numbers. A number
   * that would be rounded throws an UnexpectedAnswerError.
   *
   * @default []
   */
  readonly int64Fields?: readonly string[] | undefined
}

/**
 * Options of a call.
 *
 * @example
 * await plants.getPlant(4n, { signal: AbortSignal.timeout(1000) })
 */
export interface CallOptions {
  /** Aborts the call, including its retries. A change may still have taken effect. */
  readonly signal?: AbortSignal | undefined
}

type Fetch = (request: Request) => Promise<Response>

type Http = Client<paths>

type Send = (http: Http, init: AttemptInit) => Promise<Omit<FetchResult, 'int64Fields'>>

/** The options that every attempt passes to openapi-fetch. */
interface AttemptInit {
  readonly parseAs: 'text'
  readonly signal: AbortSignal
  readonly fetch: Fetch
}

/** Sends requests to one service. */
export class Transport {
  readonly #http: Http
  readonly #baseUrl: string
  readonly #options: ClientOptions

  /** @throws TypeError for the reasons that `createClient` lists */
  constructor(options: ClientOptions) {
    requirePlatform()
    requireToken(options.token)
    this.#options = options
    this.#baseUrl = toBaseUrl(options.url)
    this.#http = openapiFetch<paths>({
      baseUrl: this.#baseUrl,
      bodySerializer: toJson,
      // Following a redirect can turn a POST into a GET that succeeds (RFC 9110 §15.4.2).
      redirect: 'manual',
    })
  }

  /**
   * Sends a request, with retries, and reads the response.
   *
   * @param read also receives the error of an earlier attempt that may have taken effect
   * @throws what `read` and `withRetries` throw
   * @throws ConnectionError if there is no complete response
   */
  call<Result>(
    send: Send,
    read: (result: FetchResult, earlier?: Error) => Result,
    { signal }: CallOptions = {},
    wait?: WaitOptions,
  ): Promise<Result> {
    return withRetries(
      async (attemptSignal, earlier) => read(await this.#send(send, attemptSignal), earlier),
      this.#options,
      signal,
      wait,
    )
  }

  async #send(send: Send, signal: AbortSignal): Promise<FetchResult> {
    const { token, fetch = globalThis.fetch, int64Fields = [] } = this.#options
    let sent = false
    let responded = false
    const recordingFetch: Fetch = async (request) => {
      const bearer = typeof token === 'string' ? token : await supply(token, signal)
      request.headers.set('authorization', `Bearer ${bearer}`)
      sent = true
      const response = await fetch(request)
      responded = true
      return response
    }
    try {
      const result = await send(this.#http, { parseAs: 'text', signal, fetch: recordingFetch })
      return { ...result, int64Fields }
    } catch (cause) {
      // An error before the request is sent is the caller's mistake, such as an invalid header.
      if (!sent) throw cause
      const advice = responded ? undefined : explainBlocked(this.#baseUrl, cause)
      const message = `no response from ${this.#baseUrl}`
      throw new ConnectionError(advice ? `${message}: ${advice}` : message, { cause })
    }
  }
}

/** @throws what the function throws, or the abort reason of the signal */
async function supply(token: () => string | Promise<string>, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([token(), aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** @throws TypeError that does not quote the URL, which can contain a password */
function toBaseUrl(url: string | URL): string {
  const { protocol, origin, pathname, href } = parseUrl(url) ?? {}
  if (protocol === undefined || !/^https?:$/.test(protocol) || href !== `${origin}${pathname}`) {
    throw new TypeError(
      'invalid url: expected a URL such as http://host:3000 or https://host/prefix (in browsers also a relative one such as /prefix), without credentials, query or fragment',
    )
  }
  let { length } = href
  while (href[length - 1] === '/') length--
  return href.slice(0, length)
}

/** JSON with exact ids needs https://github.com/tc39/proposal-json-parse-with-source. */
function requirePlatform(): void {
  if ('rawJSON' in JSON) return
  throw new TypeError(
    'plant-store/client needs Node 22 or later, or a browser that has JSON.rawJSON',
  )
}

/** Programs in JavaScript can pass anything, such as an environment variable that is not set. */
function requireToken(token: unknown): void {
  if (typeof token === 'function' || typeof token === 'string') return
  throw new TypeError(
    'the option token is missing: expected an access token, or a function that returns one',
  )
}

import { ConnectionError } from './errors.ts'
import { explainBlocked, parseUrl } from './origin.ts'
import type { ApiRequest } from './requests.ts'
import { type ApiResponse, REQUEST_ID } from './responses.ts'
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
   * each attempt. What it throws, the call throws. It can be an environment variable: if that is not set or empty,
   * `createClient` throws.
   */
  readonly token: string | (() => string | Promise<string>) | undefined
  /**
   * The function that sends each request. Replace it to use a proxy, for example.
   *
   * @default globalThis.fetch
   */
  readonly fetch?: Fetch | undefined
  /**
   * The names of own fields with `format: int64`. Their values are always bigints. In other fields, only an integer that a
   * number would change is one.
   *
   * @default []
   */
  readonly int64Fields?: readonly string[] | undefined
}

/**
 * Options of a call. `retries` and `timeout` replace those of the client.
 *
 * @example
 * await plants.getPlant(4n, { retries: 0, timeout: 1000, signal })
 */
export interface CallOptions extends Pick<RetryOptions, 'retries' | 'timeout'> {
  /** Aborts the call, including its retries. A change may still have taken effect. */
  readonly signal?: AbortSignal | undefined
}

type Fetch = (request: Request) => Promise<Response>

/** Sends requests to one service. */
export class Transport {
  readonly #baseUrl: string
  readonly #options: ClientOptions

  /** @throws TypeError for the reasons that `createClient` lists */
  constructor(options: ClientOptions) {
    requirePlatform()
    requireToken(options.token)
    this.#options = options
    this.#baseUrl = toBaseUrl(options.url)
  }

  /**
   * Sends a request, with retries, and reads the response.
   *
   * @param read also receives the error of an earlier attempt that may have taken effect
   * @throws what `read` and `withRetries` throw
   * @throws ConnectionError if there is no complete response
   */
  call<Result>(
    request: ApiRequest,
    read: (result: ApiResponse, earlier?: Error) => Result,
    options: CallOptions = {},
    wait?: WaitOptions,
  ): Promise<Result> {
    const own = this.#options
    const { retries = own.retries, timeout = own.timeout, signal } = options
    return withRetries(
      async (attemptSignal, earlier) => read(await this.#send(request, attemptSignal), earlier),
      { ...own, retries, timeout },
      signal,
      wait,
    )
  }

  async #send({ target, ...init }: ApiRequest, signal: AbortSignal): Promise<ApiResponse> {
    const { token, fetch = globalThis.fetch, int64Fields = [] } = this.#options
    const bearer = typeof token === 'function' ? await supply(token, signal) : token
    if (!isToken(bearer)) throw new TypeError('the function of the option token returned no token')
    const request = new Request(this.#baseUrl + target, {
      ...init,
      headers: { ...init.headers, Authorization: `Bearer ${bearer}` },
      // Following a redirect can turn a POST into a GET that succeeds (RFC 9110 §15.4.2).
      redirect: 'manual',
      signal,
    })
    let response: Response | undefined
    try {
      response = await fetch(request)
      return { response, text: await response.text(), int64Fields }
    } catch (cause) {
      const advice = response ? undefined : explainBlocked(this.#baseUrl, cause)
      const message = `no response from ${this.#baseUrl}`
      const requestId = response?.headers.get(REQUEST_ID)
      throw new ConnectionError(advice ? `${message}: ${advice}` : message, { cause, requestId })
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
  throw new TypeError('the client needs Node 22 or later, or a browser that has JSON.rawJSON')
}

/** An environment variable can be missing or empty. */
function requireToken(token: unknown): void {
  if (typeof token === 'function' || isToken(token)) return
  throw new TypeError(
    'the option token is missing or empty: expected an access token, or a function that returns one',
  )
}

function isToken(token: unknown): token is string {
  return typeof token === 'string' && token.trim() !== ''
}

import openapiFetch, { type Client } from 'openapi-fetch'
import type { paths } from '../src/contract/api.gen.ts'
import type { Answer } from './answers.ts'
import { ConnectionError } from './errors.ts'
import { toJson } from './json.ts'
import { type RetryOptions, retrying } from './retrying.ts'

export interface ClientOptions extends RetryOptions {
  /** Where the service is, such as `http://127.0.0.1:3000` or, behind a proxy, `https://host/prefix`. */
  readonly url: string | URL
  /** An access token with the scopes that the operations need. */
  readonly token: string
  /** Used instead of the global `fetch`. */
  readonly fetch?: Fetch | undefined
}

export interface CallOptions {
  /** Ends the call at once, also while it waits for another try. */
  readonly signal?: AbortSignal | undefined
}

type Fetch = (request: Request) => Promise<Response>

type Http = Client<paths>

type Send = (http: Http, init: Try) => Promise<Answer>

/** What each try takes to openapi-fetch beside its own parameters. */
interface Try {
  readonly parseAs: 'text'
  readonly signal: AbortSignal
  readonly fetch: Fetch
}

/** The way to a service, with a token. */
export class Connection {
  readonly #http: Http
  readonly #options: ClientOptions

  /** @throws TypeError if the URL is not one of HTTP, or has more than a host and a path */
  constructor(options: ClientOptions) {
    this.#options = options
    this.#http = openapiFetch<paths>({
      baseUrl: baseUrlOf(options.url),
      headers: { authorization: `Bearer ${options.token}` },
      bodySerializer: toJson,
      // Followed, a POST may become a GET and seem to have worked (RFC 9110 §15.4.2).
      redirect: 'manual',
    })
  }

  /**
   * Sends a request, if need be again and again.
   *
   * @param read is given the failure of an earlier try too, if that may have taken effect
   * @throws what `read` throws, and what `retrying` does
   * @throws ConnectionError if there is no whole answer
   */
  call<Result>(
    send: Send,
    read: (answer: Answer, earlier?: Error) => Result,
    { signal }: CallOptions = {},
  ): Promise<Result> {
    return retrying(
      async (end, earlier) => read(await this.#answer(send, end), earlier),
      this.#options,
      signal,
    )
  }

  async #answer(send: Send, signal: AbortSignal): Promise<Answer> {
    const { url, fetch = globalThis.fetch } = this.#options
    let sent = false
    const noting: Fetch = (request) => {
      sent = true
      return fetch(request)
    }
    try {
      return await send(this.#http, { parseAs: 'text', signal, fetch: noting })
    } catch (cause) {
      // Before that it was the caller, with an entity tag that is no header for example.
      throw sent ? new ConnectionError(`there is no answer from ${url}`, { cause }) : cause
    }
  }
}

/** Tells nothing of a URL that is not accepted, as a password may be in it. */
function baseUrlOf(url: string | URL): string {
  const { protocol, origin, pathname, href } = URL.parse(url) ?? {}
  if (protocol === undefined || !/^https?:$/.test(protocol) || href !== `${origin}${pathname}`) {
    throw new TypeError(
      'the url has to be like http://host:3000 or https://host/prefix, without a user, a query and a fragment',
    )
  }
  let { length } = href
  while (href[length - 1] === '/') length--
  return href.slice(0, length)
}

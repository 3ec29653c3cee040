import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { parseEndpoint } from './endpoint.ts'
import type { Message } from './message.ts'
import { publicLookup, type Resolve } from './public-addresses.ts'
import { readRetryAfter } from './retry-delays.ts'

/** How long an attempt can take: finding the address, connecting, sending and waiting for the status. */
const TIMEOUT_MS = 15_000

/** How much of a response is read, and for how long, so that its connection can be used again. */
const RESPONSE_BYTES_MAX = 65_536
const RESPONSE_TIME_MAX_MS = 1000

/** How long a connection is kept for the next event. Most servers keep theirs for longer. */
const IDLE_MS = 4000

const REASON_LENGTH_MAX = 200

export interface SenderOptions {
  /** See `parseEndpoint`. */
  readonly allowPrivate: boolean
  readonly timeoutMs?: number
  /** Certificate authorities to trust instead of Node's, in PEM. */
  readonly ca?: string | undefined
  readonly resolve?: Resolve
}

/**
 * The result of an attempt:
 * - `received`: the receiver has the event;
 * - `gone`: the receiver responded with 410, which removes the webhook;
 * - `failed`: the receiver may or may not have the event.
 */
export type DeliveryResult =
  | { readonly result: 'received' | 'gone'; readonly status: number }
  | {
      readonly result: 'failed'
      /** One line. */
      readonly reason: string
      /** How long the receiver asks to wait; 0 if it does not. */
      readonly retryAfterMs: number
    }

/** Sends messages to one webhook. Uses no proxy. */
export class Sender {
  readonly #allowPrivate: boolean
  readonly #timeoutMs: number
  readonly #http: HttpAgent
  readonly #https: HttpsAgent

  constructor({ allowPrivate, timeoutMs = TIMEOUT_MS, ca, resolve }: SenderOptions) {
    this.#allowPrivate = allowPrivate
    this.#timeoutMs = timeoutMs
    const connections = { keepAlive: true, timeout: IDLE_MS }
    this.#http = new HttpAgent(connections)
    this.#https = new HttpsAgent({
      ...connections,
      // Names of development machines can be in /etc/hosts, which only the system's lookup reads.
      ...(!allowPrivate && { lookup: publicLookup(resolve) }),
      ...(ca !== undefined && { ca }),
      // Explicit, because the environment can change the default.
      rejectUnauthorized: true,
    })
  }

  /** Makes one attempt, on a connection of its own or an idle one. Never rejects. An abort is a failure too. */
  async send(url: string, message: Message, signal: AbortSignal): Promise<DeliveryResult> {
    const attempt = new AbortController()
    const cancel = () => attempt.abort(new Error('the delivery was canceled'))
    const seconds = this.#timeoutMs / 1000
    const timer = setTimeout(
      () => attempt.abort(new Error(`no response within ${seconds} seconds`)),
      this.#timeoutMs,
    )
    signal.addEventListener('abort', cancel)
    if (signal.aborted) cancel()
    const result = await this.#exchange(url, message, attempt.signal).catch(toFailure)
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
    return result
  }

  /** Closes idle connections. */
  close(): void {
    this.#http.destroy()
    this.#https.destroy()
  }

  async #exchange(url: string, message: Message, signal: AbortSignal): Promise<DeliveryResult> {
    const endpoint = parseEndpoint(url, this.#allowPrivate)
    const response = await this.#post(endpoint, message, signal)
    const result = judge(response)
    await drain(response)
    return result
  }

  /**
   * Resolves to the head of the response. Unless private addresses are allowed, `parseEndpoint` has checked a literal
   * address, and `publicLookup` checks those of a host name.
   */
  async #post(endpoint: URL, message: Message, signal: AbortSignal): Promise<IncomingMessage> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    // Before the request, whose own error is less informative.
    signal.addEventListener('abort', () => reject(signal.reason))
    const options = { method: 'POST', headers: message.headers, signal }
    const request =
      endpoint.protocol === 'https:'
        ? httpsRequest(endpoint, { ...options, agent: this.#https })
        : httpRequest(endpoint, { ...options, agent: this.#http })
    request.on('response', resolve)
    request.on('error', (error: NodeJS.ErrnoException) => {
      // The receiver closed an idle connection at the same moment. The next attempt uses another one.
      const isStale = request.reusedSocket && /^(ECONNRESET|EPIPE)$/.test(String(error.code))
      if (isStale && !signal.aborted) resolve(this.#post(endpoint, message, signal))
      else reject(error)
    })
    // Without a response or an error after an upgrade to another protocol, for example.
    request.on('close', () => reject(new Error('the connection was closed')))
    request.end(message.body)
    return promise
  }
}

function judge({ statusCode = 0, headers }: IncomingMessage): DeliveryResult {
  if (statusCode >= 200 && statusCode < 300) return { result: 'received', status: statusCode }
  if (statusCode === 410) return { result: 'gone', status: statusCode }
  const isRedirect = statusCode >= 300 && statusCode < 400
  return {
    result: 'failed',
    reason: `status ${statusCode}${isRedirect ? ': redirects are not followed' : ''}`,
    retryAfterMs: readRetryAfter(headers['retry-after'], Date.now()),
  }
}

/** Reads and discards a response. Closes its connection if it is too large or too slow. */
async function drain(response: IncomingMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let received = 0
  const timer = setTimeout(() => response.destroy(), RESPONSE_TIME_MAX_MS)
  response.on('data', ({ length }: Buffer) => {
    received += length
    if (received > RESPONSE_BYTES_MAX) response.destroy()
  })
  response.on('error', () => {})
  response.on('close', resolve)
  await promise
  clearTimeout(timer)
}

/** The reason is one line. Receivers can influence it, for example with the names in their certificates. */
function toFailure(error: NodeJS.ErrnoException): DeliveryResult {
  const { code = '', message } = error
  // The AggregateError of several addresses has an empty message.
  const text = message.includes(code) ? message : [code, message].filter(Boolean).join(': ')
  const reason = text.replace(/[\p{Cc}\s]+/gu, ' ').slice(0, REASON_LENGTH_MAX)
  return { result: 'failed', reason, retryAfterMs: 0 }
}

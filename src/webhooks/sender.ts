import type { OutgoingHttpHeaders } from 'node:http'
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { parseEndpoint } from './endpoint.ts'
import type { Event } from './event.ts'
import { publicLookup, type Resolve } from './public-lookup.ts'
import { readRetryAfter } from './retry-delays.ts'
import { sign } from './signature.ts'

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

export interface Delivery {
  readonly url: string
  readonly id: string
  readonly event: Event
  readonly secrets: readonly string[]
}

/**
 * The result of an attempt:
 * - `received`: the receiver has the event;
 * - `gone`: the receiver wants no more events;
 * - `failed`: the receiver may or may not have the event.
 */
export type Outcome =
  | { readonly result: 'received' | 'gone'; readonly status: number }
  | {
      readonly result: 'failed'
      /** One line. */
      readonly reason: string
      /** How long the receiver asks to wait; 0 if it does not. */
      readonly retryAfterMs: number
    }

/** Sends events to one webhook, over one connection at a time. Uses no proxy. */
export class Sender {
  readonly #allowPrivate: boolean
  readonly #timeoutMs: number
  readonly #http: HttpAgent
  readonly #https: HttpsAgent

  constructor({ allowPrivate, timeoutMs = TIMEOUT_MS, ca, resolve }: SenderOptions) {
    this.#allowPrivate = allowPrivate
    this.#timeoutMs = timeoutMs
    const connections = { keepAlive: true, maxSockets: 1, maxFreeSockets: 1, timeout: IDLE_MS }
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

  /** Makes one attempt. Never rejects. An abort is a failure too. */
  async send(delivery: Delivery, signal: AbortSignal): Promise<Outcome> {
    const { promise: ended, reject: end } = Promise.withResolvers<never>()
    const attempt = new AbortController()
    const stop = (reason: Error) => {
      end(reason)
      attempt.abort(reason)
    }
    const cancel = () => stop(new Error('the delivery was canceled'))
    const seconds = this.#timeoutMs / 1000
    const timer = setTimeout(
      () => stop(new Error(`no response within ${seconds} seconds`)),
      this.#timeoutMs,
    )
    signal.addEventListener('abort', cancel)
    if (signal.aborted) cancel()
    return Promise.race([this.#post(delivery, attempt.signal), ended])
      .catch((error) => ({ result: 'failed', reason: describe(error), retryAfterMs: 0 }) as const)
      .finally(() => {
        clearTimeout(timer)
        signal.removeEventListener('abort', cancel)
      })
  }

  /** Closes idle connections. */
  close(): void {
    this.#http.destroy()
    this.#https.destroy()
  }

  async #post(delivery: Delivery, signal: AbortSignal): Promise<Outcome> {
    const { url, id, event, secrets } = delivery
    const endpoint = parseEndpoint(url, this.#allowPrivate)
    const timestamp = Math.floor(Date.now() / 1000)
    const headers: OutgoingHttpHeaders = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(event.body),
      'user-agent': 'plant-store',
      'webhook-event': event.name,
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': sign({ id, timestamp, body: event.body }, secrets),
    }
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>()
    const options = { method: 'POST', headers, signal }
    const request =
      endpoint.protocol === 'https:'
        ? httpsRequest(endpoint, { ...options, agent: this.#https })
        : httpRequest(endpoint, { ...options, agent: this.#http })
    let hasResponse = false
    request.on('response', (response) => {
      hasResponse = true
      const outcome = judge(response)
      drain(response, () => resolve(outcome))
    })
    request.on('error', (error: NodeJS.ErrnoException) => {
      // The receiver closed an idle connection at the same moment. The next attempt uses a new one.
      const isStale = request.reusedSocket && /^(ECONNRESET|EPIPE)$/.test(String(error.code))
      if (isStale && !signal.aborted) resolve(this.#post(delivery, signal))
      else reject(error)
    })
    request.on('close', () => {
      // This happens after an upgrade to another protocol, for example.
      if (!hasResponse) reject(new Error('the connection was closed'))
    })
    request.end(event.body)
    return promise
  }
}

function judge({ statusCode = 0, headers }: IncomingMessage): Outcome {
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
function drain(response: IncomingMessage, done: () => void): void {
  let received = 0
  const timer = setTimeout(() => response.destroy(), RESPONSE_TIME_MAX_MS)
  response.on('data', ({ length }: Buffer) => {
    received += length
    if (received > RESPONSE_BYTES_MAX) response.destroy()
  })
  response.on('error', () => {})
  response.on('close', () => {
    clearTimeout(timer)
    done()
  })
}

/** A reason in one line. Receivers can influence it, for example with the names in their certificates. */
function describe(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  // The AggregateError of several addresses has an empty message.
  const reason = message.includes(code) ? message : [code, message].filter(Boolean).join(': ')
  return reason.replace(/[\p{Cc}\s]+/gu, ' ').slice(0, REASON_LENGTH_MAX)
}

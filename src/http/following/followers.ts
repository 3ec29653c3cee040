import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AccessTokens } from '../../auth/access-tokens.ts'

/** How often the tokens of followers are verified, so that a revocation takes effect within a second. */
const CHECK_INTERVAL_MS = 500

/** A request that waits for changes. */
export interface Follower {
  /** Aborts when it must stop waiting: its client disconnects, its token becomes invalid, or the service stops. */
  readonly signal: AbortSignal
  /** Must be called when the request no longer waits. */
  leave(): void
}

/** The requests of one thread that wait for changes. */
export class Followers {
  readonly #app: FastifyInstance
  readonly #tokens: AccessTokens
  readonly #counts = { streams: 0, longPolls: 0 }
  readonly #byToken = new Map<string, Set<AbortController>>()
  #timer: NodeJS.Timeout | undefined
  #isChecking = false
  #isStopping = false

  constructor(app: FastifyInstance, tokens: AccessTokens) {
    this.#app = app
    this.#tokens = tokens
    app.requestMetrics?.watchFollowers(this.#counts)
    // The server waits for these requests before it closes.
    app.addHook('preClose', async () => {
      this.#isStopping = true
      for (const controllers of this.#byToken.values()) abortAll(controllers)
    })
  }

  /** How many streams this thread has. */
  get streams(): number {
    return this.#counts.streams
  }

  /**
   * Adds a request that waits for one page. A client that has closed its side of the connection gets the page
   * immediately.
   */
  joinPoll(request: FastifyRequest, reply: FastifyReply): Follower {
    const joined = this.#join(request, reply, 'longPolls', (abort) => abort())
    if (request.raw.socket.readableEnded) joined.abort()
    return joined
  }

  /**
   * Adds a request for a stream, before its head is sent. It is the last one of its connection.
   *
   * @param onHalfClose is called when the client closes its side of the connection; a client that has already closed it
   *   is up to the caller. Only a write shows whether the client has gone away completely.
   */
  joinStream(request: FastifyRequest, reply: FastifyReply, onHalfClose: () => void): Follower {
    reply.raw.shouldKeepAlive = false
    return this.#join(request, reply, 'streams', onHalfClose)
  }

  #join(
    { accessToken, raw: { socket } }: FastifyRequest,
    { raw: response }: FastifyReply,
    kind: 'streams' | 'longPolls',
    onHalfClose: (abort: () => void) => void,
  ): Follower & { readonly abort: () => void } {
    const controller = new AbortController()
    const { signal } = controller
    const abort = () => controller.abort()
    const onEnd = () => onHalfClose(abort)
    if (this.#isStopping || response.closed) abort()
    this.#add(accessToken, controller)
    this.#counts[kind]++
    // Metrics show how long requests take to serve, not how long they wait for changes.
    this.#app.requestMetrics?.stopClock(response)
    response.once('close', abort)
    socket.once('end', onEnd)
    return {
      signal,
      abort,
      leave: () => {
        response.off('close', abort)
        socket.off('end', onEnd)
        this.#app.requestMetrics?.startClock(response)
        this.#counts[kind]--
        this.#remove(accessToken, controller)
      },
    }
  }

  #add(token: string, controller: AbortController): void {
    const controllers = this.#byToken.get(token)
    if (controllers === undefined) this.#byToken.set(token, new Set([controller]))
    else controllers.add(controller)
    this.#timer ??= setInterval(() => this.#check(), CHECK_INTERVAL_MS).unref()
  }

  #remove(token: string, controller: AbortController): void {
    const controllers = this.#byToken.get(token)
    controllers?.delete(controller)
    if (controllers?.size === 0) this.#byToken.delete(token)
    if (this.#byToken.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return
    this.#isChecking = true
    await Promise.all(Array.from(this.#byToken, (entry) => this.#checkToken(...entry)))
    this.#isChecking = false
  }

  async #checkToken(token: string, controllers: ReadonlySet<AbortController>): Promise<void> {
    try {
      if ((await this.#tokens.verify(token)) === undefined) abortAll(controllers)
    } catch {
      // A failure of the store does not make the token invalid.
    }
  }
}

function abortAll(controllers: ReadonlySet<AbortController>): void {
  for (const controller of controllers) controller.abort()
}

import type { MessagePort } from 'node:worker_threads'
import { fromReply, type Reply, toReply } from './reply.ts'
import { ThreadFailure } from './thread-module.ts'

/** Asynchronous methods whose parameters and results can be cloned. */
type Methods<Names extends string> = {
  // biome-ignore lint/suspicious/noExplicitAny: a parameter type that accepts any method
  readonly [Name in Names]: (...parameters: any[]) => Promise<unknown>
}

type Call = readonly [name: string, ...parameters: unknown[]]

/** Calls made in one turn of the event loop. They are numbered consecutively from `first`. */
interface Request {
  readonly first: number
  readonly calls: readonly Call[]
}

type NumberedReply = readonly [number: number, reply: Reply<unknown>]

/**
 * Calls methods of another thread, which serves them with `serveCalls`. The calls of one turn of the event loop share a
 * message, and so do the replies.
 */
export class RemoteCalls<Served extends Methods<keyof Served & string>> {
  readonly #port: MessagePort
  readonly #thread: string
  #calls: Call[] = []
  #count = 0
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>()
  /** Names of methods that only wait. */
  readonly #waits: ReadonlySet<string>
  /** The pending calls of those methods. */
  readonly #waiting = new Set<number>()
  #settled: PromiseWithResolvers<void> | undefined
  #isClosed = false

  /**
   * @param thread describes the other thread in an error
   * @param waits names of methods without a result that only wait; `close` ends their calls
   */
  constructor(port: MessagePort, thread: string, waits: readonly (keyof Served & string)[] = []) {
    this.#port = port
    this.#thread = thread
    this.#waits = new Set(waits)
    port.on('message', (replies: readonly NumberedReply[]) => {
      for (const reply of replies) this.#settle(reply)
    })
    port.on('close', () => {
      this.#isClosed = true
      for (const { reject } of this.#pending.values()) reject(this.#ended())
      this.#pending.clear()
      this.#settled?.resolve()
    })
  }

  /**
   * @throws what the method throws, but without its class unless it is StoreUnavailable; or ThreadFailure if the other
   *   thread has ended
   */
  call<Name extends keyof Served & string>(
    name: Name,
    ...parameters: Parameters<Served[Name]>
  ): ReturnType<Served[Name]> {
    if (this.#isClosed) return Promise.reject(this.#ended()) as ReturnType<Served[Name]>
    const pending = Promise.withResolvers<unknown>()
    if (this.#calls.length === 0) setImmediate(() => this.#send())
    this.#calls.push([name, ...parameters])
    if (this.#waits.has(name)) this.#waiting.add(this.#count)
    this.#pending.set(this.#count++, pending)
    return pending.promise as ReturnType<Served[Name]>
  }

  /** Waits for the calls in flight, then ends the connection. */
  async close(): Promise<void> {
    for (const number of this.#waiting) this.#settle([number, { result: undefined }])
    if (this.#pending.size > 0) {
      this.#settled ??= Promise.withResolvers()
      await this.#settled.promise
    }
    this.#port.close()
  }

  #settle([number, reply]: NumberedReply): void {
    fromReply(reply, this.#pending.get(number))
    this.#pending.delete(number)
    this.#waiting.delete(number)
    if (this.#pending.size === 0) this.#settled?.resolve()
  }

  #ended(): ThreadFailure {
    return new ThreadFailure(`${this.#thread} has ended`)
  }

  #send(): void {
    const calls = this.#calls
    const first = this.#count - calls.length
    const request: Request = { first, calls }
    this.#calls = []
    try {
      this.#port.postMessage(request)
    } catch (error) {
      // A parameter cannot be cloned.
      for (const index of calls.keys()) this.#settle([first + index, { error }])
    }
  }
}

/** Serves the calls of another thread until that thread closes its port. */
export function serveCalls<Names extends string>(port: MessagePort, methods: Methods<Names>): void {
  let ended: NumberedReply[] = []
  const end = (number: number, reply: Reply<unknown>) => {
    if (ended.length === 0) {
      setImmediate(() => {
        port.postMessage(ended)
        ended = []
      })
    }
    ended.push([number, reply])
  }
  port.on('message', ({ first, calls }: Request) => {
    for (const [index, [name, ...parameters]] of calls.entries()) {
      methods[name as Names](...parameters).then(
        (result) => end(first + index, { result }),
        (error) => end(first + index, toReply(error)),
      )
    }
  })
}

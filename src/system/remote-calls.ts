import type { MessagePort } from 'node:worker_threads'
import { fromReply, type Reply, toReply } from './reply.ts'
import { ThreadFailure } from './thread-module.ts'

/** Asynchronous methods whose parameters and results can be cloned. */
type Methods<Names extends string> = {
  // biome-ignore lint/suspicious/noExplicitAny: a parameter type that accepts any method
  readonly [Name in Names]: (...parameters: any[]) => Promise<unknown>
}

type NumberedCall = readonly [number: number, name: string, ...parameters: unknown[]]
type NumberedReply = readonly [number: number, reply: Reply<unknown>]

/** Calls methods of another thread, which serves them with `serveCalls`. */
export class RemoteCalls<Served extends Methods<keyof Served & string>> {
  readonly #port: MessagePort
  readonly #thread: string
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>()
  #count = 0
  #isClosed = false

  /** @param thread describes the other thread in an error */
  constructor(port: MessagePort, thread: string) {
    this.#port = port
    this.#thread = thread
    port.on('message', ([number, reply]: NumberedReply) => {
      fromReply(reply, this.#pending.get(number))
      this.#pending.delete(number)
    })
    port.on('close', () => {
      this.#isClosed = true
      for (const { reject } of this.#pending.values()) reject(this.#ended())
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
    const pending = Promise.withResolvers<unknown>()
    if (this.#isClosed) {
      pending.reject(this.#ended())
    } else {
      const number = this.#count++
      // Sent first, because sending a value that cannot be cloned throws.
      this.#port.postMessage([number, name, ...parameters] satisfies NumberedCall)
      this.#pending.set(number, pending)
    }
    return pending.promise as ReturnType<Served[Name]>
  }

  /** Ends the connection. Calls without a reply reject. */
  close(): void {
    this.#port.close()
  }

  #ended(): ThreadFailure {
    return new ThreadFailure(`${this.#thread} has ended`)
  }
}

/** Serves the calls of another thread until that thread closes its port. */
export function serveCalls<Names extends string>(port: MessagePort, methods: Methods<Names>): void {
  port.on('message', ([number, name, ...parameters]: NumberedCall) => {
    const end = (reply: Reply<unknown>) => port.postMessage([number, reply] satisfies NumberedReply)
    methods[name as Names](...parameters).then(
      (result) => end({ result }),
      (error) => end(toReply(error)),
    )
  })
}

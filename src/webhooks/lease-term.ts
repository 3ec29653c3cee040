import { WEBHOOK_LEASE_MS } from '../../service/webhook-store.ts'

/** The process stops delivering this long before its leases end. */
const MARGIN_MS = 2000

/** How often the clocks are compared, because a timer stops while the machine sleeps. */
const CHECK_MS = 250

/** A moment by both clocks: one stops while the machine sleeps, the other can be set. */
export interface Moment {
  readonly monotonic: number
  readonly wall: number
}

/** The period in which the process is certain to hold its leases. */
export class LeaseTerm {
  #renewedAt: Moment = { monotonic: Number.NEGATIVE_INFINITY, wall: 0 }
  #end = new AbortController()
  #timer: NodeJS.Timeout | undefined

  constructor() {
    this.#end.abort()
  }

  static now(): Moment {
    return { monotonic: performance.now(), wall: Date.now() }
  }

  /** Aborts when the leases become uncertain. The next renewal then creates a new signal. */
  get signal(): AbortSignal {
    this.#check()
    return this.#end.signal
  }

  /** How long ago the leases were renewed, in milliseconds. */
  get age(): number {
    return performance.now() - this.#renewedAt.monotonic
  }

  /** @param requestedAt before the leases were requested, because they may have begun then */
  renew(requestedAt: Moment): void {
    this.#renewedAt = requestedAt
    if (this.#end.signal.aborted) this.#end = new AbortController()
    clearInterval(this.#timer)
    this.#timer = setInterval(() => this.#check(), CHECK_MS).unref()
    this.#check()
  }

  /** Ends the term. */
  close(): void {
    clearInterval(this.#timer)
    this.#end.abort()
  }

  #check(): void {
    const { monotonic, wall } = LeaseTerm.now()
    const elapsed = [monotonic - this.#renewedAt.monotonic, wall - this.#renewedAt.wall]
    if (elapsed.some((time) => Math.abs(time) >= WEBHOOK_LEASE_MS - MARGIN_MS)) this.close()
  }
}

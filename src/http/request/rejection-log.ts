import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { SharedCounter } from '../../shared-memory/shared-counter.ts'

/** Lines per period. */
const LINES_MAX = 5
const PERIOD_MS = 1000

/** Logs rejected requests of one kind, but only a few lines per second, so that clients cannot fill the disk. */
export class RejectionLog {
  readonly #app: FastifyInstance
  readonly #rejected: SharedCounter
  readonly #summary: string
  /** Whether this thread ends the current period. */
  #endsPeriod = false

  /**
   * @param rejected how many requests the threads of the process have rejected in this period
   * @param summary the message that ends a period in which lines were omitted
   */
  constructor(app: FastifyInstance, rejected: SharedCounter, summary: string) {
    this.#app = app
    this.#rejected = rejected
    this.#summary = summary
    app.addHook('onClose', async () => this.#endPeriod())
  }

  /** Logs why a request is rejected, unless the period has enough lines. The period ends with a count of the rest. */
  write(request: FastifyRequest, message: string, details: object = {}): void {
    const before = this.#rejected.add(1)
    if (before === 0) {
      this.#endsPeriod = true
      setTimeout(() => this.#endPeriod(), PERIOD_MS).unref()
    }
    if (before >= LINES_MAX) return
    request.log.warn(details, message)
  }

  #endPeriod(): void {
    if (!this.#endsPeriod) return
    this.#endsPeriod = false
    const omitted = this.#rejected.reset() - LINES_MAX
    if (omitted > 0) this.#app.log.warn({ omitted }, this.#summary)
  }
}

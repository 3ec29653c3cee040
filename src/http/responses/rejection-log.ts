import type { FastifyInstance, FastifyRequest } from 'fastify'
import { logOf } from './request-log.ts'

/** Lines per period. */
const LINES_MAX = 5
const PERIOD_MS = 1000

/** Logs rejected requests of one kind, but only a few lines per second, so that clients cannot fill the disk. */
export class RejectionLog {
  readonly #app: FastifyInstance
  readonly #summary: string
  /** In the current period. */
  #rejected = 0

  /** @param summary the message that ends a period in which lines were omitted */
  constructor(app: FastifyInstance, summary: string) {
    this.#app = app
    this.#summary = summary
    app.addHook('onClose', async () => this.#endPeriod())
  }

  /** Logs why a request is rejected, unless the period has enough lines. The period ends with a count of the rest. */
  write(request: FastifyRequest, message: string, details: object = {}): void {
    if (this.#rejected === 0) setTimeout(() => this.#endPeriod(), PERIOD_MS).unref()
    this.#rejected++
    if (this.#rejected <= LINES_MAX) logOf(request).warn(details, message)
  }

  #endPeriod(): void {
    const omitted = this.#rejected - LINES_MAX
    this.#rejected = 0
    if (omitted > 0) this.#app.log.warn({ omitted }, this.#summary)
  }
}

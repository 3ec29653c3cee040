import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { SharedCounter } from '../shared-memory/shared-counter.ts'
import { getPath } from './request-path.ts'

/** Lines per period. */
const LINES_MAX = 5
const PERIOD_MS = 1000

/** Logs rejected tokens, but only a few lines per second, so that guessing tokens does not fill the disk. */
export class RejectionLog {
  readonly #app: FastifyInstance
  readonly #rejected: SharedCounter
  /** Whether this thread ends the current period. */
  #endsPeriod = false

  /** @param rejected the tokens that the threads of the process have rejected in this period */
  constructor(app: FastifyInstance, rejected: SharedCounter) {
    this.#app = app
    this.#rejected = rejected
    app.addHook('onClose', async () => this.#endPeriod())
  }

  /** Logs who sent a rejected token, unless the period has enough lines. The period ends with a count of the rest. */
  write(request: FastifyRequest): void {
    const before = this.#rejected.add(1)
    if (before === 0) {
      this.#endsPeriod = true
      setTimeout(() => this.#endPeriod(), PERIOD_MS).unref()
    }
    if (before >= LINES_MAX) return
    const { method, ip } = request
    request.log.warn({ address: ip, method, path: getPath(request) }, 'rejected an access token')
  }

  #endPeriod(): void {
    if (!this.#endsPeriod) return
    this.#endsPeriod = false
    const omitted = this.#rejected.reset() - LINES_MAX
    if (omitted > 0) this.#app.log.warn({ omitted }, 'rejected more access tokens')
  }
}

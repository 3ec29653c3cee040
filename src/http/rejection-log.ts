import type { FastifyInstance, FastifyRequest } from 'fastify'
import { getPath } from './request-path.ts'

/** Lines per period. */
const LINES_MAX = 5
const PERIOD_MS = 1000

/** Logs rejected tokens, but only a few lines per second, so that guessing tokens does not fill the disk. */
export class RejectionLog {
  readonly #app: FastifyInstance
  #rejectedCount = 0

  constructor(app: FastifyInstance) {
    this.#app = app
    app.addHook('onClose', async () => this.#endPeriod())
  }

  /** Logs who sent a rejected token, unless the period has enough lines. The period ends with a count of the rest. */
  write(request: FastifyRequest): void {
    if (this.#rejectedCount === 0) setTimeout(() => this.#endPeriod(), PERIOD_MS).unref()
    this.#rejectedCount++
    if (this.#rejectedCount > LINES_MAX) return
    const { method, ip } = request
    request.log.warn({ address: ip, method, path: getPath(request) }, 'rejected an access token')
  }

  #endPeriod(): void {
    const omitted = this.#rejectedCount - LINES_MAX
    this.#rejectedCount = 0
    if (omitted > 0) this.#app.log.warn({ omitted }, 'rejected more access tokens')
  }
}

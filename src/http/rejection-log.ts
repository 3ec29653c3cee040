import type { FastifyInstance, FastifyRequest } from 'fastify'
import { pathOf } from './request-path.ts'

const LINES_MAX = 5
const PERIOD_MS = 1000

/** Logs rejected tokens, at most a few lines per second, so that guessing does not fill the disk. */
export class RejectionLog {
  readonly #app: FastifyInstance
  #rejected = 0

  constructor(app: FastifyInstance) {
    this.#app = app
    app.addHook('onClose', async () => this.#endPeriod())
  }

  write(request: FastifyRequest): void {
    if (this.#rejected === 0) setTimeout(() => this.#endPeriod(), PERIOD_MS).unref()
    this.#rejected++
    if (this.#rejected > LINES_MAX) return
    const { method, ip } = request
    request.log.warn({ address: ip, method, path: pathOf(request) }, 'rejected an access token')
  }

  #endPeriod(): void {
    const omitted = this.#rejected - LINES_MAX
    this.#rejected = 0
    if (omitted > 0) this.#app.log.warn({ omitted }, 'rejected more access tokens')
  }
}

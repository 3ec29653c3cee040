import type { Service } from '../helpers/service.ts'

const CLIENTS = 4

/** Clients that each create one plant after the other, and retry after a 503. */
export class Load {
  /** The ids of acknowledged plants. */
  readonly acknowledged: bigint[] = []
  /** Responses other than 200 and 503 with Retry-After. */
  readonly surprises: unknown[] = []
  readonly #service: Service
  readonly #clients: Promise<unknown>
  #ended = false
  #next = 0n
  #progress = Promise.withResolvers<void>()

  constructor(service: Service) {
    this.#service = service
    this.#clients = Promise.all(Array.from({ length: CLIENTS }, () => this.#client()))
  }

  async #client(): Promise<void> {
    while (!this.#ended) {
      const id = this.#next++
      while (!(await this.#isCreated(id))) if (this.#ended) return
      this.acknowledged.push(id)
      this.#progress.resolve()
      this.#progress = Promise.withResolvers()
    }
  }

  async #isCreated(id: bigint): Promise<boolean> {
    const { status, headers, body } = await this.#service.call({ body: { id, name: 'x' } })
    if (status !== 200 && (status !== 503 || headers['retry-after'] === undefined)) {
      this.surprises.push({ status, headers, body })
    }
    return status === 200
  }

  /** Resolves once this many more have been acknowledged. */
  async progress(count: number): Promise<void> {
    const enough = this.acknowledged.length + count
    while (this.acknowledged.length < enough) await this.#progress.promise
  }

  async end(): Promise<void> {
    this.#ended = true
    await this.#clients
  }
}

import { setTimeout } from 'node:timers/promises'
import type { Etcd } from './etcd.ts'

const POLL_MS = 100

/** Watches who holds Patroni's lease from the moment it is made. */
export class LeaseWatch {
  readonly #etcd: Etcd
  readonly #watching: Promise<void>
  #isEnded = false
  #changed: number | undefined

  private constructor(etcd: Etcd, holder: string | undefined) {
    this.#etcd = etcd
    this.#watching = this.#watch(holder)
  }

  static async start(etcd: Etcd): Promise<LeaseWatch> {
    return new LeaseWatch(etcd, await etcd.leader())
  }

  /** Resolves to when another node, or none, held the lease, by performance.now(); undefined if it did not change. */
  async end(): Promise<number | undefined> {
    this.#isEnded = true
    await this.#watching
    return this.#changed
  }

  async #watch(holder: string | undefined): Promise<void> {
    while (!this.#isEnded && this.#changed === undefined) {
      await setTimeout(POLL_MS)
      // Nobody knows the holder while there is no quorum.
      const now = await this.#etcd.leader().catch(() => holder)
      if (now !== holder) this.#changed = performance.now()
    }
  }
}

import { StoreUnavailable } from '../../../../service/store/plant-store.ts'
import type { OnProblem } from '../../shared/engine.ts'
import { damagedError } from '../../shared/store-error.ts'

/** When the server started, which differs from that of a server that takes over. */
export const FIND_START = 'SELECT pg_postmaster_start_time()::text AS start'

const PROBLEM =
  'the server reports damaged data, so the service is not ready and rejects changes until the server is restarted or ' +
  'another one takes over. Find the damage with pg_amcheck, and restore the database or promote a standby'

/** Remembers that a server has reported damage (data_corrupted or index_corrupted) until it is replaced or restarted. */
export class ServerDamage {
  /** Receives the problem, once for each server. */
  onProblem: OnProblem | undefined
  readonly #findStart: () => Promise<string>
  /** When the damaged server started; undefined if that is unknown. */
  #found: Promise<string | undefined> | undefined

  constructor(findStart: () => Promise<string>) {
    this.#findStart = findStart
  }

  /** Must be called with every error of a statement. */
  note(error: unknown): void {
    const isDamage = error instanceof StoreUnavailable && error.reason === 'damaged'
    if (!isDamage || this.#found !== undefined) return
    this.#found = this.#findStart().catch(() => undefined)
    this.onProblem?.(PROBLEM)
  }

  /** @throws StoreUnavailable if the current server has reported damage, or cannot be asked which one it is */
  async assertNone(): Promise<void> {
    const found = this.#found
    if (found === undefined) return
    if ((await found) === (await this.#findStart())) {
      throw damagedError('the server reported damaged data earlier')
    }
    this.#found = undefined
  }
}

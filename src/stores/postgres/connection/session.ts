import type pg from 'pg'
import { StoreUnavailable } from '../../../../service/plant-store.ts'
import { cancelStatement } from './cancellation.ts'
import type { Deadline } from './deadline.ts'
import { isRetryable, mapError } from './postgres-errors.ts'
import { runGroup, type Statement } from './statement-group.ts'

/** The code of the warning (not an error) after a commit whose wait for the standbys was canceled. */
const NOT_REPLICATED = '01000'

/** Connections whose last statements were not replicated. */
const unreplicated = new WeakSet<pg.PoolClient>()

/** Prepares a new connection for its sessions. */
export function watchReplication(client: pg.PoolClient): void {
  client.on('notice', ({ code }) => {
    if (code === NOT_REPLICATED) unreplicated.add(client)
  })
}

/** A connection while it is checked out of its pool. */
export class Session {
  readonly #client: pg.PoolClient
  #running: Promise<unknown> | undefined

  constructor(client: pg.PoolClient) {
    this.#client = client
  }

  /**
   * Runs a statement and resolves to its rows.
   *
   * @throws StoreUnavailable if the server cannot run it now
   */
  async run<Row extends object>(
    { text, values = [] }: Statement,
    deadline: Deadline,
  ): Promise<Row[]> {
    const result = await this.#wait(this.#client.query<Row>(text, [...values]), deadline)
    return result.rows
  }

  /** Runs statements in one round trip, as `runGroup` does. Resolves to the rows of each. */
  async runGroup(
    statements: Parameters<typeof runGroup>[1],
    deadline: Deadline,
  ): Promise<pg.QueryResultRow[][]> {
    const results = await this.#wait(runGroup(this.#client, statements), deadline)
    return results.map(({ rows }) => rows)
  }

  /** Returns the connection to its pool. */
  release(): void {
    this.#client.release()
  }

  /**
   * Returns the connection to its pool after a failure, or closes it if its state is unknown. Resolves to the work that
   * remains, which ends in bounded time.
   */
  async rollBack(error: unknown, deadline: Deadline): Promise<{ rest: Promise<void> }> {
    try {
      if (error instanceof StoreUnavailable && !isRetryable(error)) return { rest: this.abandon() }
      await this.run({ text: 'ROLLBACK' }, deadline)
    } catch {
      return { rest: this.abandon() }
    }
    return { rest: Promise.resolve(this.release()) }
  }

  /** Stops the statement that the connection is running, in bounded time, and closes the connection. */
  async abandon(): Promise<void> {
    if (this.#running !== undefined) await cancelStatement(this.#client, this.#running)
    this.#client.release(true)
  }

  async #wait<Result>(running: Promise<Result>, deadline: Deadline): Promise<Result> {
    unreplicated.delete(this.#client)
    this.#running = running
    const end = () => {
      if (this.#running === running) this.#running = undefined
    }
    running.then(end, end)
    try {
      const result = await deadline.limit(running)
      if (unreplicated.has(this.#client)) throw new StoreUnavailable('failing', NOT_REPLICATED)
      return result
    } catch (error) {
      throw mapError(error)
    }
  }
}

import type { Socket } from 'node:net'
import type pg from 'pg'
import { known } from '../../../../core/known.ts'
import { retry } from '../../../../core/time/retries.ts'
import { StoreUnavailable } from '../../../../service/store/plant-store.ts'
import { cancelStatement } from './cancellation.ts'
import type { Deadline } from './deadline.ts'
import { isRestricted, isRetryable, mapError } from './postgres-errors.ts'
import {
  CONFIGURATION,
  CONFIGURED_AT,
  type Configuration,
  type StandbyGuarantee,
} from './standby-guarantee.ts'

/** How many times to attempt a transaction that the server keeps rolling back in favor of others. */
const ATTEMPTS_MAX = 10

/** The code of the warning (not an error) after a commit whose wait for the standbys was canceled. */
const NOT_REPLICATED = '01000'

/**
 * The statements of a verified change. The configuration is read after the commit, in a statement of its own, because a
 * session applies a changed configuration only between messages. The chained transaction makes a pooler stay on the
 * same connection.
 */
const BEGIN_VERIFIED = `BEGIN; SELECT ${CONFIGURED_AT}`
const COMMIT_VERIFIED = 'COMMIT AND CHAIN'
const FIND_CONFIGURATION = `SELECT ${CONFIGURATION}; COMMIT`

/** Runs a statement on one connection, and resolves to its rows. */
export type Run = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>

/**
 * The first row of a statement that always has one.
 *
 * @throws Error if there is none, which is a bug
 */
export function one<Row>([row]: readonly Row[]): Row {
  return known(row)
}

type Statement = readonly [text: string, values?: readonly unknown[] | undefined]
type Rows = pg.QueryResult['rows']

export interface PooledClientOptions {
  readonly client: pg.PoolClient
  /** When the call that uses the client must have ended. */
  readonly deadline: Deadline
  /** Verifies changes and transactions. */
  readonly guarantee?: StandbyGuarantee | undefined
}

/** A connection while a call has it to itself. */
export class PooledClient {
  readonly #client: pg.PoolClient
  readonly #deadline: Deadline
  readonly #guarantee: StandbyGuarantee | undefined
  #running: Promise<unknown> | undefined
  #isReplicated = true
  #isSound = true

  constructor({ client, deadline, guarantee }: PooledClientOptions) {
    this.#client = client
    this.#deadline = deadline
    this.#guarantee = guarantee
    client.on('notice', this.#noteNotice)
  }

  /**
   * Runs one statement in a transaction of its own.
   *
   * @throws StoreUnavailable if the server cannot run it now; it may have taken effect
   */
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> {
    return retryRolledBack(() => this.run<Row>(text, values))
  }

  /** Like `query`, but also verifies that the required standbys have the change. */
  change<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> {
    const guarantee = this.#requirement()
    if (guarantee === undefined) return this.query(text, values)
    return retryRolledBack(async () => {
      const [before, rows, , after] = await this.#send(
        [BEGIN_VERIFIED],
        [text, values],
        [COMMIT_VERIFIED],
        [FIND_CONFIGURATION],
      )
      confirm(guarantee, before, after)
      return known(rows)
    })
  }

  /**
   * Runs a transaction, and repeats it if the server rolls it back in favor of others.
   *
   * @param work may be called several times; throws to roll back
   * @throws StoreUnavailable as for `change`, and any error that `work` throws
   */
  transaction<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
    const guarantee = this.#requirement()
    return retryRolledBack(async () => {
      try {
        const [before] = await this.#send([guarantee ? BEGIN_VERIFIED : 'BEGIN'])
        const result = await work(this.run)
        if (guarantee === undefined) {
          await this.run('COMMIT')
        } else {
          const [, after] = await this.#send([COMMIT_VERIFIED], [FIND_CONFIGURATION])
          confirm(guarantee, before, after)
        }
        return result
      } catch (error) {
        // The connection is closed if this fails.
        if (this.#isSound) await this.run('ROLLBACK').catch(() => {})
        throw error
      }
    })
  }

  /**
   * Runs one statement: in the open transaction or, if there is none, in one of its own. Unlike `query`, does not repeat
   * it.
   */
  readonly run: Run = async (text, values) => {
    const [rows] = await this.#send([text, values])
    return known(rows)
  }

  /**
   * Returns the connection to its pool. If its state is unknown, returns a promise instead, which resolves once the
   * connection is closed and the server runs nothing for it, in bounded time.
   */
  end(): Promise<void> | undefined {
    this.#client.off('notice', this.#noteNotice)
    const isIdle = this.#running === undefined && this.#client.getTransactionStatus() === 'I'
    if (!this.#isSound || !isIdle) return this.#abandon()
    this.#client.release()
    return undefined
  }

  async #abandon(): Promise<void> {
    if (this.#running !== undefined) await cancelStatement(this.#client, this.#running)
    this.#client.release(true)
    // The driver would wait for a statement that has not ended.
    const { stream } = this.#client.connection
    ;(stream as Socket).destroySoon()
  }

  /** @throws StoreUnavailable if it is known that the guarantee does not hold */
  #requirement(): StandbyGuarantee | undefined {
    if (!this.#guarantee?.isRequired) return undefined
    this.#guarantee.assertHeld()
    return this.#guarantee
  }

  /**
   * Sends statements together, and resolves to the rows of each. If one fails, the others are nevertheless run.
   *
   * @throws the error of the first that fails
   */
  async #send(...statements: readonly Statement[]): Promise<Rows[]> {
    const { stream } = this.#client.connection
    stream.cork()
    const sent = statements.map(([text, values = []]) => this.#client.query(text, [...values]))
    stream.uncork()
    const running = Promise.allSettled(sent)
    this.#isReplicated = true
    this.#running = running
    try {
      const results = await this.#deadline.limit(running)
      this.#running = undefined
      const rows = results.map((result) => {
        if (result.status === 'rejected') throw result.reason
        return rowsOf(result.value)
      })
      if (!this.#isReplicated) throw new StoreUnavailable('failing', NOT_REPLICATED)
      return rows
    } catch (cause) {
      const error = mapError(cause)
      const isUnavailable = error instanceof StoreUnavailable && !isRestricted(error)
      if (isUnavailable && !isRetryable(error)) this.#isSound = false
      throw error
    }
  }

  readonly #noteNotice = ({ code }: { code?: string | undefined }): void => {
    if (code === NOT_REPLICATED) this.#isReplicated = false
  }
}

function retryRolledBack<Result>(attempt: () => Promise<Result>): Promise<Result> {
  const delayAfter = (error: unknown) => (isRetryable(error) ? 0 : undefined)
  return retry(attempt, { attempts: ATTEMPTS_MAX, delayMs: 0, delayAfter })
}

/** A string with several statements has several results. */
function rowsOf(result: pg.QueryResult | pg.QueryResult[]): Rows {
  return Array.isArray(result) ? result.flatMap(({ rows }) => rows) : result.rows
}

function confirm(
  guarantee: StandbyGuarantee,
  before: readonly Configuration[] = [],
  after: readonly Configuration[] = [],
): void {
  guarantee.confirm(one(after), one(before).configured_at)
}

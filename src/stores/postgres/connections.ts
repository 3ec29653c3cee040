import pg from 'pg'
import { StoreUnavailable } from '../../../service/plant-store.ts'
import { InFlight } from '../in-flight.ts'
import type { ConnectionFigures } from '../store-figures.ts'
import { type Server, toServers } from './encryption.ts'
import { isRetryable, mapError, toUnavailable } from './errors.ts'

/** Connections per replica. More would only slow the server down. */
const CONNECTIONS_MAX = 10

/** Statements that can wait for a connection. */
const WAITING_MAX = 10_000

/** How many times to attempt a transaction that the server keeps rolling back in favor of others. */
const ATTEMPTS_MAX = 10

/** The code of the warning (not an error) after a commit whose wait for the standbys was cancelled. */
const NOT_REPLICATED = '01000'

/** Runs a statement on one connection, and resolves to its rows. */
export type Run = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>

/** Whether `close` waits for work, or abandons it: it fails then, and may have taken effect. */
export type AtClose = 'completed' | 'abandonable'

export interface ConnectionsOptions {
  /** A connection string for each host. */
  readonly urls: readonly string[]
  /** Milliseconds that a connection attempt, to all hosts together, and each statement can take. */
  readonly timeout: number
}

/**
 * Connections to the primary among several hosts: the last one known, otherwise the next host that accepts changes.
 * There are no named statements and no session settings, so a pooler can give each transaction another connection.
 */
export class Connections {
  readonly #servers: readonly Server[]
  readonly #pools: readonly pg.Pool[]
  readonly #unreplicated = new WeakSet<pg.PoolClient>()
  #primary = 0
  readonly #inFlight = new InFlight()
  /** Connections with work that is abandoned at the close. */
  readonly #abandonable = new Set<pg.PoolClient>()

  /** @throws StoreError if the connection strings ask for an unverified connection */
  constructor({ urls, timeout }: ConnectionsOptions) {
    this.#servers = toServers(urls)
    this.#pools = this.#servers.map((server) => this.#open(server, timeout, urls.length))
  }

  /** Describes how the connection to the current server is encrypted and verified. */
  get encryption(): string {
    return (this.#servers[this.#primary] as Server).encryption
  }

  /** How many connections there are, and how many statements wait for one. */
  get figures(): ConnectionFigures {
    const sum = (of: (pool: pg.Pool) => number) =>
      this.#pools.reduce((total, pool) => total + of(pool), 0)
    return {
      idle: sum(({ idleCount }) => idleCount),
      used: sum(({ totalCount, idleCount }) => totalCount - idleCount),
      max: CONNECTIONS_MAX,
      pending: sum(({ waitingCount }) => waitingCount),
    }
  }

  /**
   * Runs one statement in a transaction of its own.
   *
   * @throws StoreUnavailable if the server cannot run it now; it may have taken effect
   */
  query<Row extends object>(
    text: string,
    values?: readonly unknown[],
    atClose: AtClose = 'completed',
  ): Promise<Row[]> {
    return this.#track((run) => run<Row>(text, values), atClose)
  }

  /**
   * Runs a transaction, and repeats it if the server rolls it back in favor of others.
   *
   * @param work may be called several times; throws to roll back
   * @throws StoreUnavailable as for `query`, and what `work` throws
   */
  transaction<Result>(
    work: (run: Run) => Promise<Result>,
    atClose: AtClose = 'completed',
  ): Promise<Result> {
    const attempt = async (run: Run) => {
      await run('BEGIN')
      const result = await work(run)
      await run('COMMIT')
      return result
    }
    return this.#track(attempt, atClose)
  }

  /**
   * Yields what `work` reads from the database as it is at its first statement. Holds a connection until the iteration
   * completes or is abandoned.
   *
   * @throws StoreUnavailable if the server cannot be read now
   */
  async *readSnapshot<Part>(work: (run: Run) => AsyncIterable<Part>): AsyncGenerator<Part, void> {
    const client = await this.#connect()
    let isComplete = false
    try {
      const run: Run = (text, values) => this.#run(client, text, values)
      await run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
      yield* work(run)
      await run('COMMIT')
      isComplete = true
    } finally {
      client.release(!isComplete)
    }
  }

  /** Waits for statements and transactions in flight, unless they are abandonable, then closes all connections. */
  async close(): Promise<void> {
    await this.#inFlight.settle()
    // They can wait for a missing standby. The pool would wait for them.
    await Promise.all(Array.from(this.#abandonable, (client) => client.end()))
    await Promise.all(this.#pools.map((pool) => pool.end()))
  }

  #track<Result>(work: (run: Run) => Promise<Result>, atClose: AtClose): Promise<Result> {
    return atClose === 'completed'
      ? this.#inFlight.track(() => this.#attempt(work))
      : this.#attempt(work, this.#abandonable)
  }

  /** @param clients contains the connection while it is used */
  async #attempt<Result>(
    work: (run: Run) => Promise<Result>,
    clients?: Set<pg.PoolClient>,
  ): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      const client = await this.#connect()
      clients?.add(client)
      try {
        const result = await work((text, values) => this.#run(client, text, values))
        client.release()
        return result
      } catch (error) {
        await this.#rollBack(client, error)
        if (!isRetryable(error) || attempt === ATTEMPTS_MAX) throw error
      } finally {
        clients?.delete(client)
      }
    }
  }

  async #run<Row extends object>(
    client: pg.PoolClient,
    text: string,
    values: readonly unknown[] = [],
  ): Promise<Row[]> {
    this.#unreplicated.delete(client)
    const { rows } = await runQuery<Row>(client, text, values)
    if (this.#unreplicated.has(client)) throw new StoreUnavailable('failing', NOT_REPLICATED)
    return rows
  }

  /** Returns a connection to the pool after a failure, or closes it if its state is unknown. */
  async #rollBack(client: pg.PoolClient, error: unknown): Promise<void> {
    let isLost = error instanceof StoreUnavailable && !isRetryable(error)
    try {
      if (!isLost) await this.#run(client, 'ROLLBACK')
    } catch {
      isLost = true
    }
    client.release(isLost)
  }

  async #connect(): Promise<pg.PoolClient> {
    let failure: unknown
    for (let tried = 0; tried < this.#pools.length; tried++) {
      const host = this.#primary
      const pool = this.#pools[host] as pg.Pool
      if (pool.waitingCount >= WAITING_MAX) {
        throw new StoreUnavailable('busy', `${WAITING_MAX} statements are waiting for a connection`)
      }
      try {
        return await pool.connect()
      } catch (error) {
        failure = error
        // Unless a concurrent call has already moved on.
        if (this.#primary === host) this.#primary = (host + 1) % this.#pools.length
      }
    }
    throw toUnavailable(failure)
  }

  #open({ options }: Server, timeout: number, hosts: number): pg.Pool {
    const pool = new pg.Pool({
      ...options,
      application_name: 'plant-store',
      max: CONNECTIONS_MAX,
      connectionTimeoutMillis: Math.ceil(timeout / hosts),
      query_timeout: timeout,
      keepAlive: true,
      types: { getTypeParser },
      // New connections only: a server that becomes a standby closes its connections.
      verify: (client, done) => verifyPrimary(client).then(() => done(), done),
    })
    // The pool replaces idle connections that are lost. An unhandled `error` event would end the process.
    pool.on('error', () => {})
    pool.on('connect', (client) => {
      // The same for a connection lost between two statements. The next statement fails.
      client.on('error', () => {})
      client.on('notice', ({ code }) => {
        if (code === NOT_REPLICATED) this.#unreplicated.add(client)
      })
    })
    return pool
  }
}

async function runQuery<Row extends object>(
  client: pg.PoolClient,
  text: string,
  values: readonly unknown[],
): Promise<pg.QueryResult<Row>> {
  try {
    return await client.query<Row>(text, [...values])
  } catch (error) {
    throw mapError(error)
  }
}

async function verifyPrimary(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query('SHOW transaction_read_only')
  if (rows[0]?.transaction_read_only === 'on') {
    throw new StoreUnavailable('failing', 'the server is read-only, like a standby')
  }
}

/** Returns 64-bit integers as bigints, and other types as the driver does by default. */
const getTypeParser: typeof pg.types.getTypeParser = (type, format) =>
  type === pg.types.builtins.INT8 ? BigInt : pg.types.getTypeParser(type, format)

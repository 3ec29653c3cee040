import pg from 'pg'
import { StoreUnavailable } from '../../../service/plant-store.ts'
import { type Server, serversOf } from './encryption.ts'
import { isWorthAnotherTry, storeError, unavailable } from './errors.ts'

/** More of them at a time would only make the server slower; each replica has as many. */
const CONNECTIONS = 10

/** How many statements may wait for a connection. */
const WAITING = 10_000

/** How often a transaction is made that the server has ended for the sake of others. */
const TRIES = 10

/** What the server says instead of an error when a commit was to be on the standbys and is not. */
const NOT_REPLICATED = '01000'

/** Makes a statement on one connection, and resolves to its rows. */
export type Run = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>

export interface ConnectionsOptions {
  /** A connection string for each host. */
  readonly urls: readonly string[]
  /** How long it may take to connect, and how long a statement may take, in milliseconds. */
  readonly timeout: number
}

/**
 * Connections to the one of several hosts that takes changes: that which did so last or, when it does not,
 * the first that does. Statements have no names and no settings outlive a transaction, so that a pooler
 * in between may give each transaction another connection.
 */
export class Connections {
  readonly #servers: readonly Server[]
  readonly #pools: readonly pg.Pool[]
  readonly #unreplicated = new WeakSet<pg.PoolClient>()
  #primary = 0
  #underWay = 0
  #idle = Promise.withResolvers<void>()

  /** @throws StoreError if the connection strings ask for an unverified connection */
  constructor({ urls, timeout }: ConnectionsOptions) {
    this.#servers = serversOf(urls)
    this.#pools = this.#servers.map((server) => this.#open(server, timeout, urls.length))
  }

  /** Describes how the connection to the current server is encrypted and verified. */
  get encryption(): string {
    return (this.#servers[this.#primary] as Server).encryption
  }

  /**
   * Makes one statement, a transaction of its own.
   *
   * @throws StoreUnavailable if it could not be made now; it may have been made all the same
   */
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> {
    return this.#use((run) => run<Row>(text, values))
  }

  /**
   * Makes a transaction of all that `work` runs. It may be made several times, as long as the server ends
   * it for the sake of others.
   *
   * @param work throws to have nothing of it done
   */
  transaction<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
    return this.#use(async (run) => {
      await run('BEGIN')
      const result = await work(run)
      await run('COMMIT')
      return result
    })
  }

  /**
   * What `work` makes of the database as it is at the moment of its first statement, part by part. The
   * connection is held until the last part was taken, or no more are wanted.
   */
  async *snapshot<Part>(work: (run: Run) => AsyncIterable<Part>): AsyncGenerator<Part, void> {
    const client = await this.#connect()
    let whole = false
    try {
      const run: Run = (text, values) => this.#run(client, text, values)
      await run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
      yield* work(run)
      await run('COMMIT')
      whole = true
    } finally {
      client.release(!whole)
    }
  }

  /** Waits for what is under way, then closes all connections. */
  async close(): Promise<void> {
    if (this.#underWay > 0) await this.#idle.promise
    await Promise.all(this.#pools.map((pool) => pool.end()))
  }

  async #use<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
    this.#underWay++
    try {
      return await this.#tryToUse(work)
    } finally {
      if (--this.#underWay === 0) {
        this.#idle.resolve()
        this.#idle = Promise.withResolvers()
      }
    }
  }

  async #tryToUse<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      const client = await this.#connect()
      try {
        const result = await work((text, values) => this.#run(client, text, values))
        client.release()
        return result
      } catch (error) {
        await this.#rollBack(client, error)
        if (!isWorthAnotherTry(error) || attempt === TRIES) throw error
      }
    }
  }

  async #run<Row extends object>(
    client: pg.PoolClient,
    text: string,
    values: readonly unknown[] = [],
  ): Promise<Row[]> {
    this.#unreplicated.delete(client)
    const { rows } = await queryOn<Row>(client, text, values)
    if (this.#unreplicated.has(client)) throw new StoreUnavailable('failing', NOT_REPLICATED)
    return rows
  }

  /** Makes the connection fit for others, or closes it. */
  async #rollBack(client: pg.PoolClient, error: unknown): Promise<void> {
    let lost = error instanceof StoreUnavailable && !isWorthAnotherTry(error)
    try {
      if (!lost) await this.#run(client, 'ROLLBACK')
    } catch {
      lost = true
    }
    client.release(lost)
  }

  async #connect(): Promise<pg.PoolClient> {
    let failure: unknown
    for (let tried = 0; tried < this.#pools.length; tried++) {
      const host = this.#primary
      const pool = this.#pools[host] as pg.Pool
      if (pool.waitingCount >= WAITING) {
        throw new StoreUnavailable('busy', `${WAITING} statements wait for a connection`)
      }
      try {
        return await pool.connect()
      } catch (error) {
        failure = error
        // Unless somebody else has found that already.
        if (this.#primary === host) this.#primary = (host + 1) % this.#pools.length
      }
    }
    throw unavailable(failure)
  }

  #open({ options }: Server, timeout: number, hosts: number): pg.Pool {
    const pool = new pg.Pool({
      ...options,
      application_name: 'plant-store',
      max: CONNECTIONS,
      connectionTimeoutMillis: Math.ceil(timeout / hosts),
      query_timeout: timeout,
      keepAlive: true,
      types: { getTypeParser },
      // Only of a new connection; one whose server becomes a standby is ended by the server.
      verify: (client, done) => verifyPrimary(client).then(() => done(), done),
    })
    // An idle connection that is lost is replaced; without a listener it would end the process.
    pool.on('error', () => {})
    pool.on('connect', (client) => {
      // Nor may one that is lost between two statements; the next statement fails.
      client.on('error', () => {})
      client.on('notice', ({ code }) => {
        if (code === NOT_REPLICATED) this.#unreplicated.add(client)
      })
    })
    return pool
  }
}

async function queryOn<Row extends object>(
  client: pg.PoolClient,
  text: string,
  values: readonly unknown[],
): Promise<pg.QueryResult<Row>> {
  try {
    return await client.query<Row>(text, [...values])
  } catch (error) {
    throw storeError(error)
  }
}

async function verifyPrimary(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query('SHOW transaction_read_only')
  if (rows[0]?.transaction_read_only === 'on') {
    throw new StoreUnavailable('failing', 'the server is read-only, as a standby is')
  }
}

/** Integers of 64 bits are bigints; all else is as the driver has it. */
const getTypeParser: typeof pg.types.getTypeParser = (type, format) =>
  type === pg.types.builtins.INT8 ? BigInt : pg.types.getTypeParser(type, format)

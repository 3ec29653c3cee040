import pg from 'pg'
import pgpass from 'pgpass'
import { known } from '../../../../core/known.ts'
import { StoreUnavailable } from '../../../../service/store/plant-store.ts'
import type { Deadline } from './deadline.ts'
import { type Server, toServers } from './encryption.ts'
import { toUnavailable } from './postgres-errors.ts'

/** The name of the connections of versions that use records. That of earlier versions is EARLIER_NAME. */
const APPLICATION_NAME = 'plant-store with records'
export const EARLIER_NAME = 'plant-store'

/** Connections per replica. More would only slow the server down. */
export const CONNECTIONS_MAX = 10

/** The use of the connections to the server. */
export interface ConnectionFigures {
  readonly idle: number
  readonly used: number
  readonly max: number
  /** Requests that wait for a connection. */
  readonly pending: number
}

/** Pools of connections to several hosts. Uses the last primary known, otherwise the next host that accepts changes. */
export class Hosts {
  readonly #servers: readonly Server[]
  readonly #pools: readonly pg.Pool[]
  #primary = 0

  /**
   * @param urls a connection string for each host
   * @param timeoutMs that connection attempts to all hosts together can take
   * @throws StoreError if the connection strings ask for an unverified connection
   */
  constructor(urls: readonly string[], timeoutMs: number) {
    this.#servers = toServers(urls)
    const share = Math.ceil(timeoutMs / urls.length)
    this.#pools = this.#servers.map((server) => this.#open(server, share))
  }

  /** Describes how the connection to the current server is encrypted and verified. */
  get encryption(): string {
    return known(this.#servers[this.#primary]).encryption
  }

  /** How many connections there are, and how many calls wait for one. */
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
   * Resolves to a connection to the primary. The caller releases it.
   *
   * @throws StoreUnavailable if there is none before the deadline
   */
  async connect(deadline: Deadline): Promise<pg.PoolClient> {
    let failure: unknown
    for (let tried = 0; tried < this.#pools.length; tried++) {
      const connecting = this.#connectToPrimary()
      try {
        return await deadline.limit(connecting)
      } catch (error) {
        failure = error
        // A connection that is made after the deadline goes to the pool.
        connecting.then(release, () => {})
      }
    }
    throw toUnavailable(failure)
  }

  /** Closes all connections, which have been released. */
  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.end()))
  }

  async #connectToPrimary(): Promise<pg.PoolClient> {
    const host = this.#primary
    try {
      return await known(this.#pools[host]).connect()
    } catch (error) {
      // Unless a concurrent call has already moved on.
      if (this.#primary === host) this.#primary = (host + 1) % this.#pools.length
      throw error
    }
  }

  #open({ options }: Server, timeoutMs: number): pg.Pool {
    const pool = new pg.Pool({
      ...options,
      Client: PasswordFileClient,
      application_name: APPLICATION_NAME,
      max: CONNECTIONS_MAX,
      connectionTimeoutMillis: timeoutMs,
      keepAlive: true,
      pipeline: true,
      // A server that does not respond would otherwise keep the process running after `close`.
      allowExitOnIdle: true,
      types: { getTypeParser },
      // New connections only: a server that becomes a standby closes its connections. With pg-pool's option `verify`, a
      // connection would be lost if its caller's time ran out meanwhile.
      onConnect: (client) => verifyPrimary(client, timeoutMs),
    })
    // The pool replaces idle connections that are lost. An unhandled `error` event would end the process.
    pool.on('error', () => {})
    // The same for a connection lost between two statements. The next statement fails.
    pool.on('connect', (client) => client.on('error', () => {}))
    return pool
  }
}

/**
 * Without another password, reads it from the user's password file (libpq's `~/.pgpass`). That of `pg` is deprecated, and
 * its option `password` is ignored beside a connection string.
 */
class PasswordFileClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config)
    const read = (connection: pg.ClientConfig) =>
      new Promise((resolve) => pgpass(connection, resolve))
    Object.assign(this, { password: this.password ?? read })
  }
}

function release(client: pg.PoolClient): void {
  client.release()
}

async function verifyPrimary(client: pg.ClientBase, timeoutMs: number): Promise<void> {
  const query = { text: 'SHOW transaction_read_only', query_timeout: timeoutMs }
  const { rows } = await client.query(query)
  if (rows[0]?.transaction_read_only === 'on') {
    throw new StoreUnavailable('failing', 'the server is read-only, like a standby')
  }
}

/** Returns 64-bit integers as bigints, and other types as the driver does by default. */
const getTypeParser: typeof pg.types.getTypeParser = (type, format) =>
  type === pg.types.builtins.INT8 ? BigInt : pg.types.getTypeParser(type, format)

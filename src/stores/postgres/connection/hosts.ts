import { once } from 'node:events'
import { Socket } from 'node:net'
import pg from 'pg'
import { StoreUnavailable } from '../../../../service/plant-store.ts'
import type { ConnectionFigures } from '../postgres-metrics.ts'
import { type Deadline, DeadlineExceeded } from './deadline.ts'
import { type Server, toServers } from './encryption.ts'
import { toUnavailable } from './postgres-errors.ts'

/** Connections per replica. More would only slow the server down. */
const CONNECTIONS_MAX = 10

/** Statements that can wait for a connection. */
const WAITING_MAX = 10_000

/** How long a server can take to close its connections when the store closes. */
const CLOSE_TIMEOUT_MS = 1000

export interface HostsOptions {
  /** A connection string for each host. */
  readonly urls: readonly string[]
  /** Milliseconds that connection attempts to all hosts together can take. */
  readonly timeout: number
  /** Prepares a new connection. */
  readonly onConnect: (client: pg.PoolClient) => void
}

/** Pools of connections to several hosts. Uses the last primary known, otherwise the next host that accepts changes. */
export class Hosts {
  readonly #servers: readonly Server[]
  readonly #pools: readonly pg.Pool[]
  readonly #sockets = new Set<Socket>()
  #primary = 0

  /** @throws StoreError if the connection strings ask for an unverified connection */
  constructor({ urls, timeout, onConnect }: HostsOptions) {
    this.#servers = toServers(urls)
    const share = Math.ceil(timeout / urls.length)
    this.#pools = this.#servers.map((server) => this.#open(server, share, onConnect))
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
   * Resolves to a connection to the primary. The caller releases it.
   *
   * @throws StoreUnavailable if there is none before the deadline, or too many callers wait for one
   */
  async connect(deadline: Deadline): Promise<pg.PoolClient> {
    let failure: unknown
    for (let tried = 0; tried < this.#pools.length; tried++) {
      const connecting = this.#connectToPrimary()
      try {
        return await deadline.limit(connecting)
      } catch (error) {
        failure = error
        if (error instanceof DeadlineExceeded) connecting.then(release, () => {})
        if (error instanceof StoreUnavailable && error.reason === 'busy') break
      }
    }
    throw toUnavailable(failure)
  }

  /** Closes all connections that have been released. Those of servers that do not respond are cut. */
  async close(): Promise<void> {
    const timer = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy()
    }, CLOSE_TIMEOUT_MS)
    await Promise.all(this.#pools.map((pool) => pool.end()))
    // An open socket would keep the process alive.
    await Promise.all([...this.#sockets].map((socket) => once(socket, 'close')))
    clearTimeout(timer)
  }

  async #connectToPrimary(): Promise<pg.PoolClient> {
    const host = this.#primary
    const pool = this.#pools[host] as pg.Pool
    if (pool.waitingCount >= WAITING_MAX) {
      throw new StoreUnavailable('busy', `${WAITING_MAX} statements are waiting for a connection`)
    }
    try {
      return await pool.connect()
    } catch (error) {
      // Unless a concurrent call has already moved on.
      if (this.#primary === host) this.#primary = (host + 1) % this.#pools.length
      throw error
    }
  }

  #open({ options }: Server, timeout: number, onConnect: HostsOptions['onConnect']): pg.Pool {
    const pool = new pg.Pool({
      ...options,
      application_name: 'plant-store',
      max: CONNECTIONS_MAX,
      connectionTimeoutMillis: timeout,
      keepAlive: true,
      stream: () => this.#createSocket(),
      types: { getTypeParser },
      // New connections only: a server that becomes a standby closes its connections. With pg-pool's option `verify`, a
      // connection would be lost if its caller's time ran out meanwhile.
      onConnect: (client) => verifyPrimary(client, timeout),
    })
    // The pool replaces idle connections that are lost. An unhandled `error` event would end the process.
    pool.on('error', () => {})
    pool.on('connect', (client) => {
      // The same for a connection lost between two statements. The next statement fails.
      client.on('error', () => {})
      onConnect(client)
    })
    return pool
  }

  #createSocket(): Socket {
    const socket = new Socket()
    this.#sockets.add(socket)
    return socket.once('close', () => this.#sockets.delete(socket))
  }
}

function release(client: pg.PoolClient): void {
  client.release()
}

async function verifyPrimary(client: pg.ClientBase, timeout: number): Promise<void> {
  const query = { text: 'SHOW transaction_read_only', query_timeout: timeout }
  const { rows } = await client.query(query)
  if (rows[0]?.transaction_read_only === 'on') {
    throw new StoreUnavailable('failing', 'the server is read-only, like a standby')
  }
}

/** Returns 64-bit integers as bigints, and other types as the driver does by default. */
const getTypeParser: typeof pg.types.getTypeParser = (type, format) =>
  type === pg.types.builtins.INT8 ? BigInt : pg.types.getTypeParser(type, format)

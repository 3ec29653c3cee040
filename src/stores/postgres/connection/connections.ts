import { InFlight } from '../../shared/in-flight.ts'
import { ConnectionShare } from './connection-share.ts'
import { Deadline } from './deadline.ts'
import { CONNECTIONS_MAX, type ConnectionFigures, Hosts } from './hosts.ts'
import { one, PooledClient, type Run } from './pooled-client.ts'
import { FIND_START, ServerDamage } from './server-damage.ts'
import { OBSERVATION, type Observation, StandbyGuarantee } from './standby-guarantee.ts'

/** The part of the timeout of a call that a wait for a lock can take, so that the server gives up before the client. */
const LOCK_WAIT_PART = 0.9

/** Connections that changes of single plants leave to reads, creates and lists. */
const RESERVED = 4

export interface ConnectionsOptions {
  /** A connection string for each host. */
  readonly urls: readonly string[]
  /** Milliseconds that each call can take: connecting to one of the hosts, its statements, and further attempts. */
  readonly timeout: number
}

interface CallOptions {
  /** Verifies changes and transactions. */
  readonly guarantee?: StandbyGuarantee
  /** The connections that the call may use. By default, all. */
  readonly share?: ConnectionShare
}

/**
 * Connections to the primary among several hosts. There are no named statements and no session settings, so a pooler
 * can give each transaction another connection.
 */
export class Connections {
  /** Whether acknowledged changes are on the required standbys. */
  readonly guarantee = new StandbyGuarantee(() => this.observe())
  readonly damage = new ServerDamage(async () => {
    return one(await this.query<{ start: string }>(FIND_START)).start
  })
  /** Milliseconds that a statement can wait for a lock. */
  readonly lockWaitMs: number
  readonly #hosts: Hosts
  readonly #forChanges = new ConnectionShare(CONNECTIONS_MAX - RESERVED)
  readonly #timeout: number
  readonly #inFlight = new InFlight()
  readonly #ending = new InFlight()
  /** The deadlines of the calls in flight. */
  readonly #deadlines = new Set<Deadline>()

  /** @throws StoreError if the connection strings ask for an unverified connection */
  constructor({ urls, timeout }: ConnectionsOptions) {
    this.#hosts = new Hosts(urls, timeout)
    this.#timeout = timeout
    this.lockWaitMs = Math.ceil(timeout * LOCK_WAIT_PART)
  }

  /** Describes how the connection to the current server is encrypted and verified. */
  get encryption(): string {
    return this.#hosts.encryption
  }

  /** How many connections there are, and how many calls wait for one. */
  get figures(): ConnectionFigures {
    return this.#hosts.figures
  }

  /** Makes a call whose changes and transactions are verified, unless the server is damaged. */
  async verified<Result>(work: (client: PooledClient) => Promise<Result>): Promise<Result> {
    await this.damage.assertNone()
    return this.#call(work, { guarantee: this.guarantee })
  }

  /** Like `verified`, for a call that changes one plant. The plants may be large, so few of these calls run at a time. */
  async verifiedChange<Result>(work: (client: PooledClient) => Promise<Result>): Promise<Result> {
    await this.damage.assertNone()
    return this.#call(work, { guarantee: this.guarantee, share: this.#forChanges })
  }

  /** Runs a statement as `PooledClient.query` does, in a call of its own, and does not verify it. */
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> {
    return this.#call((client) => client.query<Row>(text, values))
  }

  /** Runs a transaction as `PooledClient.transaction` does, in a call of its own, and does not verify it. */
  unverifiedTransaction<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
    return this.#call((client) => client.transaction(work))
  }

  /** Reads the current state, for `guarantee`. */
  async observe(): Promise<Observation> {
    return one(await this.query<Observation>(`SELECT ${OBSERVATION}`))
  }

  /**
   * Yields what `work` reads in one snapshot, taken at its first statement. Holds a connection until the iteration
   * completes or is abandoned. Each statement can take as long as a call.
   *
   * @throws StoreUnavailable if the server cannot be read now
   */
  async *readSnapshot<Part>(work: (run: Run) => AsyncIterable<Part>): AsyncGenerator<Part, void> {
    const deadline = this.#begin()
    let client: PooledClient | undefined
    try {
      const begun = new PooledClient({ client: await this.#hosts.connect(deadline), deadline })
      client = begun
      const read = async <Row extends object>(text: string, values?: readonly unknown[]) => {
        deadline.restart()
        const rows = await begun.run<Row>(text, values)
        // The caller can take its time until the next statement.
        deadline.cancel()
        return rows
      }
      await read('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
      yield* work(read)
      await read('COMMIT')
    } catch (error) {
      this.damage.note(error)
      throw error
    } finally {
      this.#end(deadline, client)
    }
  }

  /** Abandons the calls in flight, which fail and may have taken effect, then closes all connections. */
  async close(): Promise<void> {
    this.guarantee.close()
    for (const deadline of this.#deadlines) deadline.pass('the store is closing')
    await this.#inFlight.settle()
    await this.#ending.settle()
    await this.#hosts.close()
  }

  #call<Result>(
    work: (client: PooledClient) => Promise<Result>,
    { guarantee, share }: CallOptions = {},
  ): Promise<Result> {
    return this.#inFlight.track(async () => {
      const deadline = this.#begin()
      let entered: ConnectionShare | undefined
      let client: PooledClient | undefined
      try {
        await share?.enter(deadline)
        entered = share
        client = new PooledClient({
          client: await this.#hosts.connect(deadline),
          deadline,
          guarantee,
        })
        return await work(client)
      } catch (error) {
        this.damage.note(error)
        throw error
      } finally {
        this.#end(deadline, client)
        entered?.leave()
      }
    })
  }

  #begin(): Deadline {
    const deadline = new Deadline(this.#timeout)
    this.#deadlines.add(deadline)
    return deadline
  }

  #end(deadline: Deadline, client: PooledClient | undefined): void {
    deadline.cancel()
    this.#deadlines.delete(deadline)
    const rest = client?.end()
    if (rest !== undefined) this.#ending.track(() => rest)
  }
}

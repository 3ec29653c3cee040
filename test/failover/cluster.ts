import type { Test } from 'tap'
import { type Owner, PostgresServer, urlOf } from '../../tools/postgres/postgres-server.ts'
import { until } from '../helpers/processes/until.ts'

const NAMES = ['one', 'two']

/** A change is acknowledged once any one of the standbys has it too. */
const QUORUM = {
  synchronous_commit: 'on',
  synchronous_standby_names: `ANY 1 (${NAMES.join(', ')})`,
}

interface Standby {
  readonly name: string
  readonly server: PostgresServer
}

/** A primary with two synchronous standbys. */
export class Cluster {
  readonly url: string
  primary: PostgresServer
  standbys: readonly Standby[]

  private constructor(primary: PostgresServer, standbys: readonly Standby[]) {
    this.primary = primary
    this.standbys = standbys
    // This order makes a client try the server that remains a standby before it reaches the new primary.
    this.url = urlOf([primary, ...standbys.map(({ server }) => server).reverse()])
  }

  /** Resolves once the standbys replicate. */
  static async start(t: Owner): Promise<Cluster> {
    const primary = await PostgresServer.make(t)
    const standbys: Standby[] = []
    for (const name of NAMES) standbys.push({ name, server: await primary.copy(t, name) })
    await primary.start(QUORUM)
    for (const { name, server } of standbys) {
      await server.start({ ...QUORUM, ...server.follow(primary, name) })
    }
    const cluster = new Cluster(primary, standbys)
    await cluster.waitForStandbys()
    return cluster
  }

  /** Resolves once all standbys replicate from the primary. */
  async waitForStandbys(): Promise<void> {
    await until('the standbys replicate', async () => {
      const following = await this.primary.query(
        "SELECT pid FROM pg_stat_replication WHERE state = 'streaming'",
      )
      return following.length === this.standbys.length
    })
  }

  /** Makes primaries acknowledge without waiting for standbys from now on. */
  async disableSynchronousReplication(): Promise<void> {
    const servers = [this.primary, ...this.standbys.map(({ server }) => server)]
    await Promise.all(servers.map((server) => server.set('synchronous_standby_names', '')))
  }

  /**
   * Promotes the standby that has received the most, and makes the others follow it. The primary must have ended.
   *
   * @returns the name of the standby that was promoted
   */
  async promote(): Promise<string> {
    const received = await Promise.all(this.standbys.map(receivedBy))
    const most = received.reduce((one, other) => (other > one ? other : one))
    const next = this.standbys[received.indexOf(most)] as Standby
    await next.server.promote()
    this.primary = next.server
    this.standbys = this.standbys.filter((standby) => standby !== next)
    for (const { name, server } of this.standbys) await server.switchPrimary(this.primary, name)
    return next.name
  }

  /** Lets a standby start from the current timeline. It cannot follow the WAL files of many earlier ones. */
  async #checkpoint(standby: PostgresServer): Promise<void> {
    await this.primary.query('CHECKPOINT')
    const [now] = await this.primary.query<{ lsn: string }>('SELECT pg_current_wal_lsn() AS lsn')
    await until('the standby has what the primary has', async () => {
      const [row] = await standby.query<{ has: boolean }>(
        `SELECT pg_last_wal_replay_lsn() >= '${now?.lsn}' AS has`,
      )
      return row?.has === true
    })
  }

  /** Makes a server that has ended a standby. Another standby is stopped meanwhile, because its data are copied. */
  async rejoin(server: PostgresServer, name: string): Promise<void> {
    const other = this.standbys[0] as Standby
    await this.#checkpoint(other.server)
    await other.server.stop()
    await server.copyFrom(other.server)
    this.standbys = [...this.standbys, { name, server }]
    for (const standby of this.standbys) {
      await standby.server.start({
        ...QUORUM,
        ...standby.server.follow(this.primary, standby.name),
      })
      // The copy has the name of the other one.
      await standby.server.switchPrimary(this.primary, standby.name)
    }
    await this.waitForStandbys()
  }
}

/** How much of the log a standby without a primary has received, in bytes. */
async function receivedBy({ server }: Standby): Promise<bigint> {
  let received = ''
  // It may still be reading what the primary sent.
  await until('a standby has read what the primary sent', async () => {
    const [row] = await server.query<{ open: boolean; received: string }>(
      `SELECT EXISTS (SELECT FROM pg_stat_wal_receiver WHERE status = 'streaming') AS open,
              pg_last_wal_receive_lsn() - '0/0' AS received`,
    )
    received = row?.received ?? ''
    return row?.open === false
  })
  return BigInt(received)
}

const NOT_REPLICATED = Object.assign(new Error(), { name: 'StoreUnavailable', detail: '01000' })

/** Cancels the statements that wait for standbys, as an administrator might. */
export async function cancelWaits(primary: PostgresServer): Promise<void> {
  await primary.query(
    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
  )
}

/** Asserts that some work fails once its wait for standbys is canceled: it is committed but not replicated. */
export async function refusedWhenCancelled(
  t: Test,
  primary: PostgresServer,
  work: () => Promise<unknown>,
  what = 'committed, but not replicated',
): Promise<void> {
  let isRefused = false
  const refused = t.rejects(work(), NOT_REPLICATED, what).finally(() => {
    isRefused = true
  })
  await until(`${what} is refused`, async () => {
    await cancelWaits(primary)
    return isRefused
  })
  await refused
}

import type { Test } from 'tap'
import { PostgresServer, urlOf } from '../helpers/postgres.ts'

const NAMES = ['one', 'two']

/** A change is acknowledged when one of the standbys has it too, whichever. */
const QUORUM = {
  synchronous_commit: 'on',
  synchronous_standby_names: `ANY 1 (${NAMES.join(', ')})`,
}

interface Standby {
  readonly name: string
  readonly server: PostgresServer
}

/** A primary and two synchronous standbys of it. */
export class Cluster {
  readonly url: string
  primary: PostgresServer
  standbys: readonly Standby[]

  private constructor(primary: PostgresServer, standbys: readonly Standby[]) {
    this.primary = primary
    this.standbys = standbys
    // On its way from the first to the one that takes over who connects meets one that stays a standby.
    this.url = urlOf([primary, ...standbys.map(({ server }) => server).reverse()])
  }

  /** Resolves when the standbys follow. */
  static async start(t: Test): Promise<Cluster> {
    const primary = await PostgresServer.make(t)
    const standbys: Standby[] = []
    for (const name of NAMES) standbys.push({ name, server: await primary.copy(t, name) })
    await primary.start(QUORUM)
    for (const { name, server } of standbys) {
      await server.start({ ...QUORUM, ...server.follow(primary, name) })
    }
    const cluster = new Cluster(primary, standbys)
    await cluster.follow()
    return cluster
  }

  /** Resolves when all standbys are known to the primary. */
  async follow(): Promise<void> {
    await until(async () => {
      const following = await this.primary.query(
        "SELECT pid FROM pg_stat_replication WHERE state = 'streaming'",
      )
      return following.length === this.standbys.length
    })
  }

  /** From now on a primary waits for nobody before it acknowledges. */
  async waitForNobody(): Promise<void> {
    const servers = [this.primary, ...this.standbys.map(({ server }) => server)]
    await Promise.all(servers.map((server) => server.set('synchronous_standby_names', '')))
  }

  /** The primary sends nothing any more to the last of its standbys. */
  async leaveBehind(): Promise<void> {
    await this.primary.withhold(this.standbys.at(-1)?.name as string)
  }

  /** Makes the standby that has received most the primary of the others, when there is none any more. */
  async promote(): Promise<void> {
    const received = await Promise.all(this.standbys.map(receivedBy))
    const most = received.reduce((one, other) => (other > one ? other : one))
    const next = this.standbys[received.indexOf(most)] as Standby
    await next.server.promote()
    this.primary = next.server
    this.standbys = this.standbys.filter((standby) => standby !== next)
    for (const { name, server } of this.standbys) await server.followInstead(this.primary, name)
  }
}

/** How far a standby is that has lost its primary, in bytes of the log. */
async function receivedBy({ server }: Standby): Promise<bigint> {
  let received = ''
  // What the primary had sent may not have been read yet.
  await until(async () => {
    const [row] = await server.query<{ open: boolean; received: string }>(
      `SELECT EXISTS (SELECT FROM pg_stat_wal_receiver WHERE status = 'streaming') AS open,
              pg_last_wal_receive_lsn() - '0/0' AS received`,
    )
    received = row?.received ?? ''
    return row?.open === false
  })
  return BigInt(received)
}

/** Asks until it is so. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo()));
}

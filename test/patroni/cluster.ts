import { chownSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import type { Owner } from '../../tools/postgres/postgres-server.ts'
import { until } from '../helpers/processes/until.ts'
import { Daemon } from './daemon.ts'
import { Etcd } from './etcd.ts'
import { PatroniNode } from './node.ts'
import { type Place, replaceAll } from './place.ts'
import { Replica, requireNoStandbys } from './replica.ts'

const HAPROXY_CONFIGURATION = new URL('../../deploy/patroni/haproxy.cfg', import.meta.url)

const REPLICAS = 3

/** How long everything must have been as it should before a cluster counts as healthy, in milliseconds. */
const SETTLED_MS = 1000

/** Three etcd, three Patroni nodes, HAProxy and three replicas of the service. */
export class Cluster {
  readonly etcd: Etcd
  readonly nodes: readonly PatroniNode[]
  readonly haproxy: Daemon
  readonly replicas: readonly Replica[]
  readonly #place: Place
  #isSynchronous = true

  private constructor(
    place: Place,
    etcd: Etcd,
    nodes: readonly PatroniNode[],
    haproxy: Daemon,
    replicas: readonly Replica[],
  ) {
    this.#place = place
    this.etcd = etcd
    this.nodes = nodes
    this.haproxy = haproxy
    this.replicas = replicas
  }

  /** Resolves once everything runs. */
  static async start(owner: Owner, place: Place): Promise<Cluster> {
    const etcd = new Etcd(owner, place)
    const nodes: PatroniNode[] = []
    for (const host of place.hosts) nodes.push(await PatroniNode.make(owner, place, host, etcd))
    const haproxy = makeHaproxy(owner, place)
    const replicas: Replica[] = []
    for (let made = 0; made < REPLICAS; made++) replicas.push(await Replica.make(owner, place))
    const cluster = new Cluster(place, etcd, nodes, haproxy, replicas)
    await cluster.#start()
    return cluster
  }

  async #start(): Promise<void> {
    for (const member of this.etcd.members) member.start()
    await until('etcd is healthy', () => this.etcd.isHealthy())
    for (const node of this.nodes) node.start()
    this.haproxy.start()
    await until('the servers replicate', () => this.#isReplicating())
    await this.query(`CREATE ROLE plants LOGIN PASSWORD '${this.#place.password}'`)
    await this.query('CREATE DATABASE plants OWNER plants')
    const [first, ...others] = this.replicas
    first?.start()
    await until('a replica is ready', async () => first?.isReady() ?? false)
    for (const replica of others) replica.start()
    await this.healthy()
  }

  /** Resolves once everything is as it was at the start, and has been for a while. */
  async healthy(): Promise<void> {
    await until('the cluster is healthy', async () => {
      if (!(await this.#isHealthy())) return false
      await setTimeout(SETTLED_MS)
      return this.#isHealthy()
    })
  }

  async #isHealthy(): Promise<boolean> {
    const ready = await Promise.all(this.replicas.map((replica) => replica.isReady()))
    return ready.every(Boolean) && (await this.etcd.isHealthy()) && this.#isReplicating()
  }

  async #isReplicating(): Promise<boolean> {
    const leader = await this.etcd.leader()
    const [row] = await this.query<{ host: string; standbys: string[]; synchronous: string[] }>(
      `SELECT host(inet_server_addr()) AS host,
              array_agg(application_name) AS standbys,
              array_agg(application_name) FILTER (WHERE sync_state = 'sync') AS synchronous
       FROM pg_stat_replication WHERE state = 'streaming'`,
    )
    const expected = this.#isSynchronous ? 1 : 0
    return (
      row?.host === leader &&
      row?.standbys?.length === this.nodes.length - 1 &&
      (row.synchronous ?? []).length === expected
    )
  }

  /** The node that holds the lease. */
  async primary(): Promise<PatroniNode> {
    const leader = await this.etcd.leader()
    return this.#nodeAt(leader)
  }

  async synchronousStandby(): Promise<PatroniNode> {
    const [row] = await this.query<{ name: string }>(
      "SELECT application_name AS name FROM pg_stat_replication WHERE sync_state = 'sync'",
    )
    return this.#nodeAt(row?.name)
  }

  /** Makes everyone acknowledge without waiting for standbys from now on. */
  async disableSynchronousMode(): Promise<void> {
    await requireNoStandbys(this.#place)
    const primary = await this.primary()
    await primary.change('PATCH', '/config', {
      synchronous_mode: false,
      synchronous_mode_strict: false,
    })
    this.#isSynchronous = false
    await this.healthy()
  }

  /** Suspends replication to all standbys, which do not notice. */
  async suspendReplication(): Promise<void> {
    const senders = await this.query<{ pid: number }>('SELECT pid FROM pg_stat_replication')
    for (const { pid } of senders) process.kill(pid, 'SIGSTOP')
  }

  #nodeAt(host: string | undefined): PatroniNode {
    const node = this.nodes.find((each) => each.host === host)
    if (node === undefined) throw new Error(`no node is ${host}`)
    return node
  }

  /** Runs a statement on the primary, as HAProxy sees it. */
  async query<Row extends object>(text: string): Promise<Row[]> {
    const { proxy, password, caFile } = this.#place
    const client = new pg.Client({
      ...{ host: proxy, port: 5000, user: 'postgres', password },
      ssl: { ca: readFileSync(caFile, 'utf8'), checkServerIdentity: () => undefined },
      connectionTimeoutMillis: 2000,
      query_timeout: 60_000,
    })
    // The statement itself can end the connection.
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query<Row>(text)).rows
    } finally {
      await client.end()
    }
  }
}

/** HAProxy as deploy/patroni/haproxy.cfg configures it, at an address of its own. */
function makeHaproxy(owner: Owner, { folder, user, hosts, proxy }: Place): Daemon {
  const file = join(folder, 'haproxy.cfg')
  const servers = hosts.map((host, index) => [` db${index + 1}:`, ` ${host}:`])
  // The test starts it as an unprivileged user, whose output goes to a file.
  const values = {
    '  user haproxy\n  group haproxy\n': '',
    'log /dev/log local0': 'log stderr format raw local0',
    '127.0.0.1:5000': `${proxy}:5000`,
    ...Object.fromEntries(servers),
  }
  writeFileSync(file, replaceAll(readFileSync(HAPROXY_CONFIGURATION, 'utf8'), values))
  if (user !== undefined) chownSync(file, user.uid, user.gid)
  const line = ['haproxy', '-db', '-f', file]
  return new Daemon(owner, { line, user, log: join(folder, 'haproxy.log') })
}

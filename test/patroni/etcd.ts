import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Owner } from '../../tools/postgres/postgres-server.ts'
import { Daemon } from './daemon.ts'
import { makePrivateFolder, type Place } from './place.ts'

const CLIENT_PORT = 2379
const PEER_PORT = 2380

/** The key with which Patroni's leader proves its lease. */
const LEADER_KEY = '/v2/keys/service/plants/leader'

/** Three members of an etcd cluster. */
export class Etcd {
  readonly members: readonly EtcdMember[]

  constructor(owner: Owner, place: Place) {
    this.members = place.hosts.map((host) => new EtcdMember(owner, place, host))
  }

  async isHealthy(): Promise<boolean> {
    const health = await Promise.all(this.members.map((member) => member.isHealthy()))
    return health.every(Boolean)
  }

  /** The node that holds the lease; undefined if none does. Rejects while there is no quorum. */
  leader(): Promise<string | undefined> {
    const running = this.members.filter(({ isRunning }) => isRunning)
    return Promise.any(running.map((member) => member.leader()))
  }
}

class EtcdMember extends Daemon {
  readonly host: string
  readonly port = CLIENT_PORT
  readonly #url: string

  constructor(owner: Owner, { folder, user, hosts }: Place, host: string) {
    const url = `http://${host}:${CLIENT_PORT}`
    const data = join(folder, `etcd-${host}`)
    mkdirSync(data, { mode: 0o700 })
    makePrivateFolder(data, user)
    const peer = `http://${host}:${PEER_PORT}`
    const options = {
      name: host,
      'data-dir': join(data, 'data'),
      'listen-client-urls': url,
      'advertise-client-urls': url,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': hosts.map((each) => `${each}=http://${each}:${PEER_PORT}`).join(),
      'log-level': 'warn',
      'enable-v2': 'true',
    }
    const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
    super(owner, { line: ['etcd', ...args], user, log: join(folder, `etcd-${host}.log`) })
    this.host = host
    this.#url = url
  }

  async isHealthy(): Promise<boolean> {
    const response = await fetch(`${this.#url}/health`, { signal: AbortSignal.timeout(1000) })
    return ((await response.json()) as { health: string }).health === 'true'
  }

  async leader(): Promise<string | undefined> {
    // A quorum read, because a member that is cut off has outdated keys.
    const url = `${this.#url}${LEADER_KEY}?quorum=true`
    const response = await fetch(url, { signal: AbortSignal.timeout(1000) })
    if (response.status === 404) return undefined
    if (!response.ok) throw new Error(await response.text())
    const { node } = (await response.json()) as { node: { value: string } }
    return node.value
  }
}

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Owner } from '../../tools/postgres/server.ts'
import { Daemon } from './daemon.ts'
import { makePrivateFolder, type Place } from './place.ts'
import { program } from './requirements.ts'

const CLIENT_PORT = 2379
const PEER_PORT = 2380

/** The key with which Patroni's leader proves its lease. */
const LEADER_KEY = '/v2/keys/service/plants/leader'

/** Three members of an etcd cluster. */
export class Etcd {
  readonly members: readonly EtcdMember[]

  constructor(owner: Owner, place: Place) {
    const names = place.hosts.map((host) => `${host}=http://${host}:${PEER_PORT}`).join()
    this.members = place.hosts.map((host) => new EtcdMember(owner, place, host, names))
  }

  async start(): Promise<void> {
    for (const member of this.members) member.start()
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

class EtcdMember {
  readonly host: string
  readonly port = CLIENT_PORT
  readonly #daemon: Daemon
  readonly #url: string

  constructor(owner: Owner, { folder, user }: Place, host: string, names: string) {
    this.host = host
    this.#url = `http://${host}:${CLIENT_PORT}`
    const data = join(folder, `etcd-${host}`)
    mkdirSync(data, { mode: 0o700 })
    makePrivateFolder(data, user)
    const peer = `http://${host}:${PEER_PORT}`
    const options = {
      name: host,
      'data-dir': join(data, 'data'),
      'listen-client-urls': this.#url,
      'advertise-client-urls': this.#url,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': names,
      'log-level': 'warn',
      'enable-v2': 'true',
    }
    const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
    const line = [program('etcd'), ...args]
    this.#daemon = new Daemon(owner, { line, user, log: join(folder, `etcd-${host}.log`) })
  }

  get isRunning(): boolean {
    return this.#daemon.isRunning
  }

  start(): void {
    this.#daemon.start()
  }

  kill(): Promise<void> {
    return this.#daemon.kill()
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

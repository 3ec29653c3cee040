import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { peakMemory } from './machine.ts'
import { plantOf } from './requests.ts'
import { makeStore, TOKEN } from './stores.ts'

interface Described {
  /** What it is, for a reader of the chart. */
  readonly title: string
  readonly stores: boolean
  /** Makes the database with so many plants, where that is not its own to do. */
  readonly fill?: (file: string, stored: number) => Promise<void>
  /** The arguments to Node that start it on a database. */
  readonly command: (file: string, stored: number) => string[]
}

export type SubjectName = 'ceiling' | 'commit each' | 'commit each, NORMAL' | 'plant store'

/** What is measured. */
export const SUBJECTS: Record<SubjectName, Described> = {
  ceiling: { title: 'bare Fastify, stores nothing', stores: false, command: bare('nothing') },
  'commit each': { title: 'a commit for each request', stores: true, command: bare('FULL') },
  'commit each, NORMAL': {
    title: 'the same, synchronous=NORMAL',
    stores: true,
    command: bare('NORMAL'),
  },
  'plant store': {
    title: 'this service, default settings',
    stores: true,
    fill: (file, stored) => makeStore(file, stored, (index) => plantOf(BigInt(index + 1))),
    command: service,
  },
}

export const ALL_SUBJECTS = Object.keys(SUBJECTS) as SubjectName[]

/** The arguments to Node that start the service with its default settings, on any port. */
export function service(database: string): string[] {
  return [pathOf('../src/main.ts'), '--port', '0', '--database', database]
}

/** What starts a plain server; see `bare-server.ts`. */
export function bare(mode: string): Described['command'] {
  return (file, stored) => [pathOf('./bare-server.ts'), mode, file, String(stored), TOKEN]
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url))
}

/** A server in a process of its own. */
export class Server {
  readonly url: string
  readonly #process: ChildProcess

  constructor(url: string, process: ChildProcess) {
    this.url = url
    this.#process = process
  }

  get pid(): number {
    return this.#process.pid as number
  }

  /** In MiB, so far; NaN where there is no Linux to ask. */
  get peakMemory(): number {
    return peakMemory(this.pid)
  }

  /** Resolves when it has ended. */
  async stop(): Promise<void> {
    const { exitCode, signalCode } = this.#process
    // As after Ctrl-C, which it gets too.
    if (exitCode !== null || signalCode !== null) return
    const gone = once(this.#process, 'exit')
    this.#process.kill('SIGTERM')
    await gone
  }
}

/**
 * Starts a subject on a database file, with a log beside it. Resolves when it listens.
 *
 * @param stored how many plants are, or have to be, in it
 * @throws Error with what it logged if it ends before it listens
 */
export function start(name: SubjectName, file: string, stored: number): Promise<Server> {
  return startServer(SUBJECTS[name].command(file, stored), `${file}.log`)
}

/**
 * Starts what the arguments to Node say. Resolves when it listens.
 *
 * @throws Error with what it logged if it ends before it listens
 */
export async function startServer(command: readonly string[], logFile: string): Promise<Server> {
  const log = openSync(logFile, 'w')
  const child = spawn(process.execPath, command, {
    env: withoutSettings(process.env),
    stdio: ['ignore', 'pipe', log],
  })
  closeSync(log)
  let said = ''
  for await (const chunk of child.stdout as NodeJS.ReadableStream) {
    said += chunk
    const url = /listens on (\S+)\n/.exec(said)?.[1]
    if (url !== undefined) return new Server(url, child)
  }
  throw new Error(`it does not start: ${readFileSync(logFile, 'utf8')}`)
}

/** What is measured has its default settings, whatever those of whoever measures. */
function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const others = Object.entries(environment).filter(([name]) => !name.startsWith('PLANT_STORE_'))
  return Object.fromEntries(others)
}

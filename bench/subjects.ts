import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { VARIABLE_PREFIX } from '../src/config/settings.ts'
import { peakMemory } from './machine.ts'
import { makePlant } from './requests.ts'
import { makeStore, TOKEN } from './stores.ts'

interface Described {
  /** Description in the chart. */
  readonly title: string
  /** Whether it keeps plants in a database. */
  readonly stores: boolean
  /** Creates the database and stores plants, unless the server does so itself. */
  readonly fill?: (file: string, stored: number) => Promise<void>
  /** Arguments to Node that start the server on a database. */
  readonly command: (file: string, stored: number) => string[]
}

export type SubjectName = 'ceiling' | 'commit each' | 'commit each, NORMAL' | 'plant store'

/** The subjects of the benchmark. */
export const SUBJECTS: Record<SubjectName, Described> = {
  ceiling: {
    title: 'bare Fastify, stores nothing',
    stores: false,
    command: bareCommand('nothing'),
  },
  'commit each': { title: 'a commit for each request', stores: true, command: bareCommand('FULL') },
  'commit each, NORMAL': {
    title: 'the same, synchronous=NORMAL',
    stores: true,
    command: bareCommand('NORMAL'),
  },
  'plant store': {
    title: 'this service, default settings',
    stores: true,
    fill: (file, stored) => makeStore(file, stored, (index) => makePlant(BigInt(index + 1))),
    command: serviceCommand,
  },
}

export const ALL_SUBJECTS = Object.keys(SUBJECTS) as SubjectName[]

/** Arguments to Node that start the service with its default settings on a free port. */
export function serviceCommand(database: string): string[] {
  return [resolvePath('../src/main.ts'), '--port', '0', '--database', database]
}

/** The command of a bare server in a mode of `bare-server.ts`. */
export function bareCommand(mode: string): Described['command'] {
  return (file, stored) => [resolvePath('./bare-server.ts'), mode, file, String(stored), TOKEN]
}

function resolvePath(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url))
}

/** A server process. */
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
 * Starts a subject on a database file, with its log next to it. Resolves when it listens.
 *
 * @param stored how many plants the database contains, or the subject must store
 * @param flags additional arguments of the subject
 * @throws Error with the log if the process exits before it listens
 */
export function start(
  name: SubjectName,
  file: string,
  stored: number,
  flags: readonly string[] = [],
): Promise<Server> {
  return startServer([...SUBJECTS[name].command(file, stored), ...flags], `${file}.log`)
}

/**
 * Starts a server with the given arguments to Node. Resolves when it listens.
 *
 * @throws Error with the log if the process exits before it listens
 */
export async function startServer(command: readonly string[], logFile: string): Promise<Server> {
  const log = openSync(logFile, 'w')
  const child = spawn(process.execPath, command, {
    env: withoutSettings(process.env),
    stdio: ['ignore', 'pipe', log],
  })
  closeSync(log)
  let output = ''
  for await (const chunk of child.stdout as NodeJS.ReadableStream) {
    output += chunk
    const url = /listening on (\S+)\n/.exec(output)?.[1]
    if (url !== undefined) return new Server(url, child)
  }
  throw new Error(`the server did not start: ${readFileSync(logFile, 'utf8')}`)
}

/** Removes the caller's settings, so that the service is measured with its defaults. */
function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const others = Object.entries(environment).filter(([name]) => !name.startsWith(VARIABLE_PREFIX))
  return Object.fromEntries(others)
}

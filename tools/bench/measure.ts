import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../../src/system/user-errors.ts'
import type { LoadOptions } from './bench-options.ts'
import { type Shares, watchProcessors } from './figures/machine.ts'
import { checkAnswers, isServed } from './load/answers.ts'
import { type Generate, generateOnAll, type Measured } from './load/generators.ts'
import {
  backgroundOf,
  FIRST_ID,
  type Kind,
  plantsPerRequest,
  requestsOf,
  type Template,
} from './load/request-kinds.ts'
import { type ProcessorTime, watchThreads } from './processor-time.ts'
import type { Running, Subject } from './servers/subjects.ts'

/** The result of one slice of load. Times are in milliseconds unless their name has another unit. */
export interface Run extends Measured, Shares, ProcessorTime {
  /** Processor time of the database server per request, in microseconds. */
  readonly databaseCpuUs: number
  /** So far, the sum over all servers, in MiB. NaN if the system does not report it. */
  readonly peakMemory: number
}

export interface Slice {
  readonly kind: Kind
  readonly subject: string
  readonly round: number
  readonly run: Run
}

/** The connections that are measured while others send batches. */
const BESIDE_BATCHES = 4

/** The warm-up ends after this time, even if a busy machine has left it less processor time than wanted. */
const WARM_UP_SECONDS_MAX = 30

/** The distance between the ids of a load and those of the load in its background. */
const BACKGROUND_DISTANCE = 1e10

/**
 * Measures subjects in turn, in slices of some seconds of load. For each kind of load, all of them run at once, each on
 * a database of its own: the machine's speed changes from minute to minute, but hardly between two slices. Each round
 * starts with another subject.
 *
 * @throws Error if a subject gives wrong responses or has lost plants
 */
export async function measureInTurn(
  subjects: readonly Subject[],
  kinds: readonly Kind[],
  options: LoadOptions,
  generate: Generate,
): Promise<Slice[]> {
  const interruption = watchInterruption()
  const folder = await mkdtemp(join(tmpdir(), 'plant-store-bench-'))
  try {
    for (const [index, { prepare }] of subjects.entries()) {
      interruption.throwIfAborted()
      await prepare?.(await makeFolder(folder, `filled-${index}`))
    }
    const slices: Slice[] = []
    for (const kind of kinds) {
      const started: Started[] = []
      try {
        for (const [index, subject] of subjects.entries()) {
          interruption.throwIfAborted()
          const running = await subject.start(await makeFolder(folder, `${kind}-${index}`))
          started.push(new Started(subject, running, kind, options, generate))
        }
        const served: Started[] = []
        for (const each of started) {
          interruption.throwIfAborted()
          if (await each.warmUp()) served.push(each)
          else console.log(`${each.name} does not support ${kind} and is left out.`)
        }
        for (let round = 0; round < options.rounds; round++) {
          for (const each of rotate(served, round)) {
            interruption.throwIfAborted()
            slices.push({ kind, subject: each.name, round, run: await each.measure() })
          }
        }
        for (const each of served) await each.checkStored()
      } finally {
        for (const each of started) await each.stop()
      }
      for (const index of subjects.keys()) {
        await rm(join(folder, `${kind}-${index}`), { recursive: true })
      }
    }
    return slices
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** With orders that alternate, the last subject of a round would be the first of the next one, with warm caches. */
function rotate<Item>(items: readonly Item[], by: number): Item[] {
  const first = by % items.length
  return [...items.slice(first), ...items.slice(0, first)]
}

async function makeFolder(parent: string, name: string): Promise<string> {
  const folder = join(parent, name)
  await mkdir(folder)
  return folder
}

/** A subject that has been started for a kind of load. */
class Started {
  readonly name: string
  readonly #subject: Subject
  readonly #running: Running
  readonly #kind: Kind
  readonly #options: LoadOptions
  readonly #generate: Generate
  /** Empty if the subject's interface lacks the kind. */
  readonly #requests: readonly Template[]
  #limits: Disposable | undefined
  /** The first free id. */
  #first: number
  #acknowledged = 0
  #isStopped = false

  constructor(
    subject: Subject,
    running: Running,
    kind: Kind,
    options: LoadOptions,
    generate: Generate,
  ) {
    this.name = subject.name
    this.#subject = subject
    this.#running = running
    this.#kind = kind
    this.#options = options
    this.#generate = generate
    this.#requests = subject.dialect ? (subject.dialect.requests[kind] ?? []) : requestsOf(kind)
    this.#first = FIRST_ID + subject.stored
  }

  /** Lets Node compile its hot code and the write-ahead log reach its usual size. Resolves to false if it lacks the kind. */
  async warmUp(): Promise<boolean> {
    const { servers } = this.#running
    const { dialect } = this.#subject
    const requests = [...this.#requests, ...(backgroundOf(this.#kind) ?? [])]
    try {
      if (this.#requests.length === 0) return false
      for (const server of servers) {
        await (dialect?.check ?? checkAnswers)(server)
        if (!(await isServed(server, new Set(requests), dialect?.successes))) return false
      }
      await this.#loadUntilWarm()
      this.#limits = this.#subject.limit?.(servers)
      return true
    } catch (error) {
      throw this.#explain(error)
    }
  }

  async measure(): Promise<Run> {
    const { servers, database } = this.#running
    const pids = servers.map(({ pid }) => pid)
    const shares = watchProcessors({ servers: pids, database })
    const times = watchThreads(pids)
    try {
      const measured = await this.#load(this.#options.seconds)
      // With a load in the background, the time per request would say nothing.
      const { requests } = backgroundOf(this.#kind) ? { requests: Number.NaN } : measured
      const { storingUs, ...used } = shares()
      return {
        ...measured,
        ...times(requests),
        ...used,
        databaseCpuUs: storingUs / requests,
        peakMemory: servers.reduce((sum, server) => sum + server.peakMemory, 0),
      }
    } catch (error) {
      throw this.#explain(error)
    }
  }

  /** Measures processor time, because a busy machine leaves little of it. Without Linux, uses the clock. */
  async #loadUntilWarm(): Promise<void> {
    const wantedUs = this.#options.warmUp * (this.#subject.size ?? 1) * 1e6
    const pids = this.#running.servers.map(({ pid }) => pid)
    const times = watchThreads(pids)
    for (let seconds = 1; ; seconds++) {
      await this.#load(1)
      const { cpuUs } = times(1)
      if ((Number.isNaN(cpuUs) ? seconds * 1e6 : cpuUs) >= wantedUs) return
      if (seconds >= WARM_UP_SECONDS_MAX) return
    }
  }

  async #load(seconds: number): Promise<Measured> {
    const kind = this.#kind
    const { servers } = this.#running
    const { stored, size = 1 } = this.#subject
    const connections = this.#options.connections * size
    const load = { connections, seconds, first: this.#first, stored, requests: this.#requests }
    const background = backgroundOf(kind)
    const plants = Math.max(1, plantsPerRequest(kind))
    if (background === undefined) {
      const measured = await generateOnAll(servers, load, this.#generate)
      // Each connection may have sent one more request, whose response was not awaited.
      this.#first += (measured.requests + connections) * plants
      this.#acknowledged += (measured.requests - measured.failed) * plantsPerRequest(kind)
      return measured
    }
    const batches = { ...load, requests: background, first: this.#first + BACKGROUND_DISTANCE }
    const [measured, others] = await Promise.all([
      generateOnAll(servers, { ...load, connections: BESIDE_BATCHES }, this.#generate),
      generateOnAll(servers, batches, this.#generate),
    ])
    this.#first += (Math.max(measured.requests, others.requests) + connections) * 1000
    return { ...measured, failed: measured.failed + others.failed }
  }

  /** Verifies that no acknowledged plant is missing. Stops the servers. */
  async checkStored(): Promise<void> {
    await this.#stopServers()
    if (this.#acknowledged === 0) return
    const least = this.#subject.stored + this.#acknowledged
    const count = (await this.#running.count?.()) ?? Number.POSITIVE_INFINITY
    if (count >= least) return
    throw this.#explain(new Error(`${count} plants are stored, but ${least} were acknowledged`))
  }

  async stop(): Promise<void> {
    await this.#stopServers()
    await this.#running.stop?.()
  }

  async #stopServers(): Promise<void> {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#limits?.[Symbol.dispose]()
    for (const server of this.#running.servers) await server.stop()
  }

  #explain(error: unknown): Error {
    return new Error(`${this.name}, ${this.#kind}: ${messageOf(error)}`, { cause: error })
  }
}

/**
 * Keeps SIGINT and SIGTERM from ending the process, so that it can clean up. Ctrl-C also stops servers and load
 * generators, so the current slice fails or is the last one. After that, a signal exits immediately.
 *
 * @returns a signal to check before each slice
 */
function watchInterruption(): AbortSignal {
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      interruption.abort(new Error(`interrupted by ${signal}`))
      process.once(signal, () => process.exit(1))
    })
  }
  return interruption.signal
}

import { setTimeout } from 'node:timers/promises'
import { MessageChannel, type Worker } from 'node:worker_threads'
import type { Config } from '../config/config.ts'
import type { ContractDocument } from '../contract/contract.ts'
import type { Endpoint, Listening } from '../http/listener.ts'
import type { HttpServer } from '../http-server.ts'
import type { SharedState } from '../shared-memory/shared-state.ts'
import type { StoreLink } from '../stores/store.ts'
import { RemoteCalls, serveCalls } from '../threads/remote-calls.ts'
import { requireThread } from '../threads/thread-module.ts'
import { reservePort } from './port-reservation.ts'
import { httpThread, type MainMethods, type ThreadMethods } from './thread-data.ts'

/** How long a thread can take to respond before it counts as stuck. */
const PING_TIMEOUT_MS = 2000

/** V8's default takes 30 MB more, and no less processor time. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 3 }

interface HttpThread {
  readonly name: string
  readonly worker: Worker
  readonly remote: RemoteCalls<ThreadMethods>
  /** See requireThread. */
  readonly allowEnd: () => Promise<void>
}

export interface HttpThreadsOptions {
  readonly config: Config
  readonly contract: ContractDocument
  readonly shared: SharedState
  /** One for each thread. */
  readonly links: readonly StoreLink[]
}

/**
 * Prepares HTTP servers in threads of their own, which share a port, a store and all limits. If one of them ends
 * unexpectedly, so does the process.
 */
export async function prepareHttpThreads(options: HttpThreadsOptions): Promise<HttpServer> {
  const main: MainMethods = { findStuckThread: () => findStuckThread(threads) }
  const threads = options.links.map((_, index) => startThread(options, index, main))
  const close = async () => {
    await Promise.all(threads.map(endThread))
  }
  try {
    await Promise.all(threads.map(({ remote }) => remote.call('build')))
  } catch (error) {
    await close()
    throw error
  }
  return { listen: (endpoint) => listenOnAll(threads, endpoint), close }
}

function startThread(
  { config: { seed: _, ...config }, contract, shared, links }: HttpThreadsOptions,
  index: number,
  methods: MainMethods,
): HttpThread {
  const link = links[index] as StoreLink
  const control = new MessageChannel()
  const main = new MessageChannel()
  const name = `plant-http-${index + 1}`
  const data = {
    config,
    contract,
    isTerminal: process.stderr.isTTY,
    logsForAll: index === 0,
    shared: shared.memory,
    store: link.data,
    control: control.port2,
    main: main.port2,
  }
  const transferList = [control.port2, main.port2, ...link.transferList]
  const worker = httpThread.start(data, { name, transferList, resourceLimits: RESOURCE_LIMITS })
  serveCalls<keyof MainMethods>(main.port1, methods)
  const allowEnd = requireThread(worker, name)
  return { name, worker, remote: new RemoteCalls(control.port1, `the thread ${name}`), allowEnd }
}

async function listenOnAll(
  threads: readonly HttpThread[],
  { hosts, port }: Endpoint,
): Promise<Listening> {
  const { release, ...listening } = await reservePort(hosts, port)
  try {
    const [first] = listening.addresses
    const endpoint = {
      hosts: listening.addresses.map(({ address }) => address),
      port: first?.port ?? port,
      reusePort: true,
    }
    await Promise.all(threads.map(({ remote }) => remote.call('listen', endpoint)))
    return listening
  } finally {
    release()
  }
}

async function findStuckThread(threads: readonly HttpThread[]): Promise<string | undefined> {
  const timeout = new AbortController()
  const responses = threads.map(async ({ name, remote }) => {
    const isStuck = await Promise.race([
      remote.call('ping'),
      setTimeout(PING_TIMEOUT_MS, true, { signal: timeout.signal }).catch(() => {}),
    ])
    return isStuck === true ? name : undefined
  })
  try {
    return (await Promise.all(responses)).find((name) => name !== undefined)
  } finally {
    timeout.abort()
  }
}

async function endThread({ worker, remote, allowEnd }: HttpThread): Promise<void> {
  const ended = allowEnd()
  // It fails in a thread that could not build its application.
  await remote.call('close').catch(() => worker.terminate())
  await remote.close()
  await ended
}

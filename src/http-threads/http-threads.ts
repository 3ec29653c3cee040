import { MessageChannel, type Worker } from 'node:worker_threads'
import type { ContractDocument } from '../../contract/contract.ts'
import { StoreUnavailable } from '../../service/plant-store.ts'
import type { Config } from '../config/config.ts'
import { serviceBusy } from '../http/api-error.ts'
import { newTicketSecret } from '../http/server/certificate.ts'
import type { Endpoint } from '../http/server/listener.ts'
import { MAIN_THREAD, type ThreadFigures, watchEventLoop } from '../metrics/thread-figures.ts'
import type { SharedState } from '../shared-memory/shared-state.ts'
import { shareResult } from '../shared-result.ts'
import type { StoreLink } from '../stores/store.ts'
import { RemoteCalls, serveCalls } from '../threads/remote-calls.ts'
import { requireThread } from '../threads/thread-module.ts'
import type { HttpServer } from './http-server.ts'
import { listenOnAll } from './port-reservation.ts'
import { httpThread, type MainMethods, type ThreadMethods } from './thread-data.ts'

/** How long a thread can take to respond before it counts as stuck. */
const RESPONSE_TIMEOUT_MS = 2000

/** How long the result of a search for stuck threads is used. */
const SEARCH_LIFETIME_MS = 100

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
  const threads: HttpThread[] = []
  const figures: ThreadFigures[] = []
  // Anyone can ask for it.
  const findStuckThread = shareResult(() => searchThreads(threads), SEARCH_LIFETIME_MS)
  const main: MainMethods = { findStuckThread }
  try {
    const ticketSecret = newTicketSecret()
    for (const index of options.links.keys()) {
      threads.push(startThread(options, index, ticketSecret, main))
    }
    const built = await Promise.all(threads.map(({ remote }) => remote.call('build')))
    figures.push(...built.flat())
  } catch (error) {
    await Promise.all(threads.map(terminate))
    throw error
  }
  const eventLoop = figures.length > 0 ? watchEventLoop() : undefined
  if (eventLoop !== undefined) figures.push({ thread: MAIN_THREAD, eventLoop: eventLoop.histogram })
  return {
    figures,
    listen: (endpoint) => {
      const listeners = threads.map(({ remote }) => {
        return (shared: Endpoint) => remote.call('listen', shared)
      })
      return listenOnAll(listeners, endpoint)
    },
    close: async () => {
      await Promise.all(threads.map(endThread))
      eventLoop?.stop()
    },
    checkReady: async () => {
      if ((await findStuckThread()) !== undefined) throw serviceBusy()
    },
  }
}

function startThread(
  { config: { seed: _, ...config }, contract, shared, links }: HttpThreadsOptions,
  index: number,
  ticketSecret: Uint8Array,
  methods: MainMethods,
): HttpThread {
  const link = links[index] as StoreLink
  const control = new MessageChannel()
  const main = new MessageChannel()
  const number = index + 1
  const name = `plant-http-${number}`
  const data = {
    number,
    threads: links.length,
    config,
    contract,
    isTerminal: process.stderr.isTTY,
    logsForAll: index === 0,
    shared: shared.memory,
    ticketSecret,
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

/** @throws StoreUnavailable if a thread cannot use the store */
async function searchThreads(threads: readonly HttpThread[]): Promise<string | undefined> {
  const checks = threads.map(async ({ name, remote }) => {
    const stuck = Promise.withResolvers<string>()
    const timer = setTimeout(stuck.resolve, RESPONSE_TIMEOUT_MS, name)
    const checked = remote.call('ping').catch((error) => {
      if (error instanceof StoreUnavailable) throw error
      return name
    })
    try {
      return (await Promise.race([checked, stuck.promise])) ?? undefined
    } finally {
      clearTimeout(timer)
    }
  })
  return (await Promise.all(checks)).find((name) => name !== undefined)
}

async function endThread(thread: HttpThread): Promise<void> {
  const { remote, allowEnd } = thread
  const ended = allowEnd()
  // It fails if the thread has already ended.
  await remote.call('close').catch(() => {})
  remote.close()
  await ended
}

async function terminate({ worker, allowEnd }: HttpThread): Promise<void> {
  allowEnd()
  await worker.terminate()
}

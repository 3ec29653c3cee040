import { MessageChannel, type Worker } from 'node:worker_threads'
import type { ContractDocument } from '../../core/contract/contract.ts'
import { shareResult } from '../../core/time/shared-result.ts'
import { within } from '../../core/time/within.ts'
import { StoreUnavailable } from '../../service/store/plant-store.ts'
import type { ReadKeys } from '../auth/issuer-keys.ts'
import type { Config } from '../config/config.ts'
import { serviceBusy } from '../http/responses/api-error.ts'
import { newTicketSecret } from '../http/sockets/certificate.ts'
import type { Endpoint } from '../http/sockets/listener.ts'
import type { StoreLink } from '../stores/shared/store.ts'
import type { Metrics } from '../stores/shared/store-metrics.ts'
import { lastKnown } from '../system/last-known.ts'
import { RemoteCalls, serveCalls } from '../system/remote-calls.ts'
import { requireThread } from '../system/thread-module.ts'
import type { HttpServer } from './http-server.ts'
import { listenOnAll } from './port-reservation.ts'
import { httpThread, type MainMethods, type ThreadMethods } from './thread-data.ts'

/** How long a thread can take to respond before it counts as stuck. */
const THREAD_TIMEOUT_MS = 2000

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
  /** See AppOptions. */
  readonly hiddenFields: readonly string[]
  /** One for each thread. */
  readonly links: readonly StoreLink[]
  /** Shared by the threads, so that their number does not matter to the issuer. */
  readonly readKeys: ReadKeys
}

/**
 * Prepares HTTP servers in threads of their own, which share a port and a store. If one of them ends
 * unexpectedly, so does the process.
 */
export async function prepareHttpThreads(options: HttpThreadsOptions): Promise<HttpServer> {
  const threads: HttpThread[] = []
  // `/health/ready` needs no token, so clients can cause any number of calls.
  const findStuckThread = shareResult(() => searchThreads(threads), SEARCH_LIFETIME_MS)
  const main: MainMethods = { findStuckThread, readKeys: options.readKeys }
  try {
    const ticketSecret = newTicketSecret()
    for (const [index, link] of options.links.entries()) {
      threads.push(startThread(options, link, index + 1, ticketSecret, main))
    }
    await Promise.all(threads.map(({ remote }) => remote.call('prepare')))
  } catch (error) {
    await Promise.all(threads.map(terminate))
    throw error
  }
  const readers = threads.map(({ remote }) =>
    lastKnown<Metrics>(() => remote.call('readMetrics'), []),
  )
  return {
    readMetrics: async () => (await Promise.all(readers.map((read) => read()))).flat(),
    listen: (endpoint) => {
      const listeners = threads.map(({ remote }) => {
        return (shared: Endpoint) => remote.call('listen', shared)
      })
      return listenOnAll(listeners, endpoint)
    },
    close: async () => {
      await Promise.all(threads.map(endThread))
    },
    checkReady: async () => {
      if ((await findStuckThread()) !== undefined) throw serviceBusy()
    },
  }
}

function startThread(
  { config: { seed: _, ...config }, contract, hiddenFields, links }: HttpThreadsOptions,
  link: StoreLink,
  number: number,
  ticketSecret: Uint8Array,
  methods: MainMethods,
): HttpThread {
  const control = new MessageChannel()
  const main = new MessageChannel()
  const name = `plant-http-${number}`
  const data = {
    number,
    threads: links.length,
    config,
    contract,
    hiddenFields,
    isTerminal: process.stderr.isTTY,
    logsForAll: number === 1,
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
  const checks = threads.map(({ name, remote }) => {
    const checked = remote.call('ping').catch((error) => {
      if (error instanceof StoreUnavailable) throw error
      return name
    })
    return within(checked, THREAD_TIMEOUT_MS, name)
  })
  return (await Promise.all(checks)).find((name) => name !== undefined)
}

async function endThread(thread: HttpThread): Promise<void> {
  const { remote, allowEnd } = thread
  const ended = allowEnd()
  // The call fails if the thread has already ended.
  await remote.call('close').catch(() => {})
  remote.close()
  await ended
}

async function terminate({ worker, allowEnd }: HttpThread): Promise<void> {
  allowEnd()
  await worker.terminate()
}

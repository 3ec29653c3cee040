import type { AddressInfo } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import type { Endpoint } from '../config/setting-values.ts'
import { serviceBusy } from '../http/api-error.ts'
import { LIVE, READY, shareCheck } from '../http/health.ts'
import { AdminServer, type Page } from './admin-server.ts'
import { type MetricSources, metricsPage } from './metrics.ts'

/** How long a scrape waits to find out whether the service is ready. */
const READY_TIMEOUT_MS = 1000

export interface AdminParts extends Omit<MetricSources, 'isReady'> {
  readonly endpoint: Endpoint
  readonly log: FastifyBaseLogger
  /** Resolves if the service can serve requests. */
  readonly checkReady: () => Promise<void>
}

/** What operators see of a service, on a port of its own. */
export interface Admin {
  /** @throws the system's error if the address is unavailable */
  listen(): Promise<AddressInfo>
  /** Makes the service count as not ready. */
  drain(): void
  /** Stops listening and closes all connections. */
  close(): Promise<void>
}

/** Prepares the metrics and health checks for operators. */
export function prepareAdmin({ endpoint, log, checkReady, ...sources }: AdminParts): Admin {
  let isStopping = false
  const check = shareCheck(async () => {
    if (isStopping) throw serviceBusy()
    await checkReady()
  })
  const isReady = async () => {
    const { promise: late, resolve } = Promise.withResolvers<false>()
    const timer = setTimeout(resolve, READY_TIMEOUT_MS, false)
    const ready = check().then(
      () => true,
      () => false,
    )
    return Promise.race([ready, late]).finally(() => clearTimeout(timer))
  }
  const pages = {
    '/metrics': metricsPage({ ...sources, isReady }),
    [LIVE.path]: async () => toPage(LIVE.json),
    [READY.path]: async () => {
      await check()
      return toPage(READY.json)
    },
  }
  const server = new AdminServer({ endpoint, pages, log })
  return {
    listen: () => server.listen(),
    drain: () => {
      isStopping = true
    },
    close: () => server.close(),
  }
}

function toPage(content: string): Page {
  return { type: 'application/json', content }
}

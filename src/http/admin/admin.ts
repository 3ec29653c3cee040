import type { AddressInfo } from 'node:net'
import { getSystemErrorMessage } from 'node:util'
import type { FastifyBaseLogger } from 'fastify'
import { propertiesOf } from '../../../core/known.ts'
import { shareResult } from '../../../core/time/shared-result.ts'
import { within } from '../../../core/time/within.ts'
import { ConfigError } from '../../config/config.ts'
import type { ListenAddress } from '../../config/setting-values.ts'
import { type MetricsOptions, serveMetrics } from '../../observing/metrics.ts'
import { LIVE, READY } from '../health.ts'
import { serviceBusy } from '../responses/api-error.ts'
import { toAuthority } from '../sockets/listener.ts'
import { type AdminResponse, type AdminRoutes, createAdminServer } from './admin-server.ts'

/** How long a scrape waits to find out whether the service is ready. */
const READY_TIMEOUT_MS = 1000

export interface AdminOptions extends Omit<MetricsOptions, 'isReady'> {
  readonly address: ListenAddress
  readonly log: FastifyBaseLogger
  /** Resolves if the service can serve requests. */
  readonly checkReady: () => Promise<void>
  /** Of the faults, in a store for tests. */
  readonly faultRoutes?: AdminRoutes | undefined
}

/** The metrics and health checks of a service, on a separate port. */
export interface Admin {
  /**
   * Starts to listen. The service is not ready yet.
   *
   * @throws ConfigError if the address is unavailable
   */
  listen(): Promise<AddressInfo>
  /** Sets whether the service accepts connections. Otherwise it counts as not ready. */
  setAccepting(isAccepting: boolean): void
  /** Stops listening and closes all connections. */
  close(): Promise<void>
}

/** Prepares the metrics and health checks for operators. */
export function prepareAdmin({
  address,
  log,
  checkReady,
  faultRoutes: routes,
  ...options
}: AdminOptions): Admin {
  let isAccepting = false
  const check = shareResult(async () => {
    if (!isAccepting) throw serviceBusy()
    await checkReady()
  })
  const isReady = () => {
    const ready = check().then(
      () => true,
      () => false,
    )
    return within(ready, READY_TIMEOUT_MS, false)
  }
  const metrics = serveMetrics({ ...options, isReady })
  const paths = {
    '/metrics': metrics.read,
    [LIVE.path]: async () => toResponse(LIVE.json),
    [READY.path]: async () => {
      await check()
      return toResponse(routes === undefined ? READY.json : READY.jsonWithFaults)
    },
  }
  const server = createAdminServer({ address, paths, routes, log })
  return {
    listen: async () => {
      try {
        return await server.listen()
      } catch (error) {
        const authority = toAuthority({ address: address.host, port: address.port })
        const reason = getSystemErrorMessage(Number(propertiesOf(error).errno))
        throw new ConfigError(`cannot listen at --admin-port ${authority}: ${reason}`, {
          cause: error,
        })
      }
    },
    setAccepting: (value) => {
      isAccepting = value
    },
    close: async () => {
      metrics.stop()
      await server.close()
    },
  }
}

function toResponse(content: string): AdminResponse {
  return { type: 'application/json', content }
}

import type { FastifyInstance, RouteHandlerMethod } from 'fastify'
import { shareResult } from '../../core/time/shared-result.ts'
import { sendJson } from './responses/response.ts'

/** The path of each health check, and the JSON of its success. */
export const LIVE = { path: '/health/live', json: JSON.stringify({ status: 'live' }) }
export const READY = {
  path: '/health/ready',
  json: JSON.stringify({ status: 'ready' }),
  /** Of a store for tests. */
  jsonWithFaults: JSON.stringify({ status: 'ready', faults: 'on' }),
}

/**
 * Health checks for load balancers and supervisors. They need no token, so they are not part of the contract. `live`
 * succeeds while the process responds. `ready` succeeds while `checkReady` does, and otherwise fails with 503 and an
 * `Error`.
 *
 * @param hasFaults whether requests can fail on demand, which `ready` reports
 */
export function reportHealth(
  app: FastifyInstance,
  checkReady: () => Promise<void>,
  hasFaults: boolean,
): void {
  // Anyone can send any number of requests, because they need no token.
  const check = shareResult(checkReady)
  const get = (url: string, handler: RouteHandlerMethod) =>
    app.route({ method: ['GET', 'HEAD'], url, config: { open: true }, handler })
  get(LIVE.path, (_request, reply) => sendJson(reply, 200, LIVE.json))
  get(READY.path, async (_request, reply) => {
    await check()
    return sendJson(reply, 200, hasFaults ? READY.jsonWithFaults : READY.json)
  })
}

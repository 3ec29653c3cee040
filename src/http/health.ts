import type { FastifyInstance } from 'fastify'
import type { PlantStore } from '../../service/plant-store.ts'
import { sendJson } from './api-error.ts'

/**
 * For load balancers and supervisors, hence without a token and outside the contract: `live` succeeds while the process
 * responds, `ready` while the store does (otherwise an Error with 503).
 */
export function reportHealth(app: FastifyInstance, store: PlantStore): void {
  const config = { open: true }
  let checking: Promise<void> | undefined

  // Concurrent requests share one query, because anyone may send any number of them.
  const check = () => {
    checking ??= store.ping().finally(() => {
      checking = undefined
    })
    return checking
  }

  app.get('/health/live', { config }, (_request, reply) => sendJson(reply, 200, { status: 'live' }))
  app.get('/health/ready', { config }, async (_request, reply) => {
    await check()
    return sendJson(reply, 200, { status: 'ready' })
  })
}

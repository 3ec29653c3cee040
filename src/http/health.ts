import type { FastifyInstance } from 'fastify'
import type { PlantStore } from '../../service/plant-store.ts'
import { sendJson } from './failure.ts'

/**
 * For load balancers and supervisors, so without a token and outside the contract: `live` while the process
 * answers, `ready` while the store does (an Error with 503 otherwise).
 */
export function reportHealth(app: FastifyInstance, store: PlantStore): void {
  const config = { open: true }
  let checking: Promise<void> | undefined

  // Anybody may ask, any number of times at once; the store is asked once at a time.
  const check = () => {
    checking ??= store.check().finally(() => {
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

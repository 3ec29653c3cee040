import type { FastifyInstance } from 'fastify'
import { sendJson } from './response.ts'

/**
 * Health checks for load balancers and supervisors. They need no token, so they are not part of the contract. `live`
 * succeeds while the process responds. `ready` succeeds while `checkReady` does, and otherwise fails with 503 and an
 * `Error`.
 */
export function reportHealth(app: FastifyInstance, checkReady: () => Promise<void>): void {
  const config = { open: true }
  let checking: Promise<void> | undefined

  // Concurrent requests share one check, because anyone can send any number of them.
  const shareCheck = () => {
    checking ??= checkReady().finally(() => {
      checking = undefined
    })
    return checking
  }

  app.get('/health/live', { config }, (_request, reply) =>
    sendJson(reply, 200, JSON.stringify({ status: 'live' })),
  )
  app.get('/health/ready', { config }, async (_request, reply) => {
    await shareCheck()
    return sendJson(reply, 200, JSON.stringify({ status: 'ready' }))
  })
}

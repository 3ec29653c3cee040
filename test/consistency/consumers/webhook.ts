import type { ServerResponse } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { webhookEvents } from '../../../service/webhook-store.ts'
import { CuttingProxy } from '../../mirror/cutting-proxy.ts'
import { startReceiver } from '../../webhooks/receiver.ts'
import { judgeWebhook } from '../judges/webhooks.ts'
import { plantStore } from '../services/service.ts'
import type { StartConsumer } from './consumer.ts'

/** How long the receiver needs for a delivery at most, in milliseconds. */
const DELAY_MS_MAX = 5

/** The most events that are delivered before the next failure. */
const EVENTS_MAX = 100

/** Limit for the deliveries after the last call, in milliseconds. */
const DELIVERY_MS_MAX = 60_000

/** A webhook whose receiver is slow, and at times fails or loses its connections. */
export const webhook: StartConsumer = async ({ owner, random }, { database = '' }) => {
  let status = 204
  /** When each delivery was over, by its number: it was answered, or its connection was lost. */
  const ends: number[] = []
  const respond = async (response: ServerResponse, index: number) => {
    response.once('close', () => {
      ends[index] = performance.now()
    })
    await setTimeout(random.below(DELAY_MS_MAX))
    response.writeHead(status).end()
    status = 204
  }
  const receiver = await startReceiver(owner, { plain: true, respond })
  const proxy = await CuttingProxy.start(owner, () => [receiver.url])
  await plantStore(
    owner,
    ...['webhook', 'add', '--name', 'consumer', '--url', `${proxy.url}/hook`],
    ...['--events', webhookEvents.join(), '--allow-private-webhooks', '--database', database],
  )
  return {
    harm: async () => {
      if (random.oneIn(2)) await proxy.cut(random.below(2))
      else status = 500
      // Failures that follow each other would make the service wait longer and longer.
      await receiver.untilDistinct(receiver.ids.size + 1 + random.below(EVENTS_MAX))
    },
    judge: async (feed) => {
      const limit = setTimeout(DELIVERY_MS_MAX, undefined, { ref: false })
      await Promise.race([receiver.untilDistinct(feed.length), limit])
      const deliveries = receiver.received.map((each, index) => ({ ...each, ended: ends[index] }))
      return judgeWebhook(deliveries, feed).map((fault) => `webhook: ${fault}`)
    },
  }
}

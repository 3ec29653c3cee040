import type { ServerResponse } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { webhookEvents } from '../../../service/webhook-store.ts'
import { CuttingProxy } from '../../mirror/cutting-proxy.ts'
import { startReceiver } from '../../webhooks/receiver.ts'
import { plantStore } from '../disasters/service.ts'
import { judgeWebhook } from '../judges/webhooks.ts'
import type { StartConsumer } from './consumer.ts'

/** How long the receiver needs for a delivery at most, in milliseconds. */
const DELAY_MS_MAX = 5

/** The most connections that are refused after a cut, and the most deliveries that fail. The service waits after each. */
const FAILURES_MAX = 2

/** Limit for the deliveries after the last call, in milliseconds. */
const DELIVERY_MS_MAX = 60_000

/** A webhook whose receiver is slow, and at times fails or loses its connections. */
export const webhook: StartConsumer = async ({ owner, random }, { database = '' }) => {
  let failures = 0
  const respond = async (response: ServerResponse) => {
    await setTimeout(random.below(DELAY_MS_MAX))
    const isFailure = failures > 0
    if (isFailure) failures -= 1
    response.writeHead(isFailure ? 500 : 204).end()
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
      if (random.oneIn(2)) await proxy.cut(random.below(FAILURES_MAX + 1))
      else failures = 1 + random.below(FAILURES_MAX)
    },
    judge: async (feed) => {
      const limit = setTimeout(DELIVERY_MS_MAX, undefined, { ref: false })
      await Promise.race([receiver.untilDistinct(feed.length), limit])
      return judgeWebhook(receiver.received, feed).map((fault) => `webhook: ${fault}`)
    },
  }
}

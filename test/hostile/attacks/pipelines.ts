/** Pipelined requests from clients that do not read the responses. */
import { randomBytes } from 'node:crypto'
import type { Attack } from './attack.ts'
import { head } from './attacker.ts'

const PAGE = head('GET /plants?limit=1000')
const BUNDLE = head('GET /documentation/static/swagger-ui-bundle.js', [], '')
const ROOT = 'GET / HTTP/1.1\r\nHost:x\r\n\r\n'

/** Enough to exhaust the heap of a service that runs all requests of a connection at once. */
const PAGES_BYTES = 58_000

const UNREAD = { reads: false }

const unreadPipelines: Attack = {
  name: 'pipelined pages, never read',
  run: (attacker) => {
    const requests = PAGE.repeat(PAGES_BYTES / PAGE.length)
    const number = attacker.scaled(10)
    return attacker.onConnections(number, (socket) => socket.write(requests), UNREAD)
  },
}

const unreadPages: Attack = {
  name: 'one page each, never read',
  run: (attacker) => {
    const number = attacker.scaled(200)
    return attacker.onConnections(number, (socket) => socket.write(PAGE), UNREAD)
  },
}

const unreadDocs: Attack = {
  name: "pipelined docs' bundles, no token",
  run: (attacker) => {
    const requests = BUNDLE.repeat(700)
    const number = attacker.scaled(6)
    return attacker.onConnections(number, (socket) => socket.write(requests), UNREAD)
  },
}

const tinyRequests: Attack = {
  name: 'tiny pipelined requests, no token',
  run: (attacker) => {
    const requests = ROOT.repeat(20_000)
    const number = attacker.scaled(10)
    return attacker.onConnections(number, (socket) => socket.write(requests), UNREAD)
  },
}

const vanishing: Attack = {
  name: 'pipelined pages, disconnected at once',
  run: (attacker) => {
    const requests = PAGE.repeat(200)
    return attacker.onConnections(
      attacker.scaled(200),
      (socket) =>
        new Promise<void>((resolve) => {
          socket.on('close', () => resolve()).write(requests, () => socket.destroy())
        }),
      UNREAD,
    )
  },
}

/** Pipelined requests per exchange. */
const BATCH = 100

/** @param tokenOf returns an invalid token, or an empty string for none */
function strangers(name: string, tokenOf: () => string): Attack {
  return {
    name,
    run: async (attacker) => {
      let left = attacker.scaled(24_000 / BATCH)
      await attacker.onConnections(20, async (socket) => {
        while (left > 0 && !socket.destroyed) {
          left--
          const batch = Array.from({ length: BATCH }, () => head('GET /plants/4', [], tokenOf()))
          await attacker.exchange(socket, batch.join(''), BATCH)
        }
      })
    },
  }
}

export const pipelineAttacks = [
  unreadPipelines,
  unreadDocs,
  unreadPages,
  strangers('requests without a token', () => ''),
  strangers('requests with wrong tokens', () => `plant_${randomBytes(32).toString('base64url')}`),
  tinyRequests,
  vanishing,
]

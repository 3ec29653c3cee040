/** Connections that stay open, leave early, or read nothing, and clients without a valid token. */
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Attack, createHead, head } from './attacker.ts'

const PAGE = head('GET /plants?limit=1000')
const BUNDLE = head('GET /documentation/static/swagger-ui-bundle.js', [], '')
const ROOT = 'GET / HTTP/1.1\r\nHost:x\r\n\r\n'

/** Enough to exhaust the heap of a service that runs all requests of a connection at once; two need no token. */
const PIPELINES = [PAGE.repeat(58_000 / PAGE.length), BUNDLE.repeat(700), ROOT.repeat(20_000)]

const UNREAD = { reads: false }

const idle: Attack = {
  name: 'idle connections',
  run: async (attacker) => {
    await attacker.onConnections(attacker.scaled(1000), (socket) => socket.resume())
    await delay(Math.min(3000, 3000 * attacker.scale))
  },
}

const byteByByte: Attack = {
  name: 'headers byte by byte',
  run: async (attacker) => {
    const bytes = head('GET /plants/4')
    await attacker.onConnections(attacker.scaled(500), (socket) => {
      let sent = 0
      const drip = setInterval(() => socket.write(bytes[sent++] ?? ''), 100)
      socket.resume().on('close', () => clearInterval(drip))
    })
    await delay(Math.min(5000, 5000 * attacker.scale))
  },
}

const vanishing: Attack = {
  name: 'connections cut within a body or a response',
  run: (attacker) => {
    const starts = [createHead(2 ** 20) + 'x'.repeat(100_000), PAGE.repeat(200)]
    return attacker.onConnections(
      attacker.scaled(2000),
      (socket, index) =>
        new Promise<void>((resolve) => {
          const start = starts[index % starts.length] as string
          socket.on('close', () => resolve()).write(start, () => socket.destroy())
        }),
      UNREAD,
    )
  },
}

const unreadPages: Attack = {
  name: 'one page each, never read',
  run: (attacker) =>
    attacker.onConnections(attacker.scaled(200), (socket) => socket.write(PAGE), UNREAD),
}

const unreadPipelines: Attack = {
  name: 'pipelined requests, never read',
  run: (attacker) =>
    attacker.onConnections(
      attacker.scaled(10 * PIPELINES.length),
      (socket, index) => socket.write(PIPELINES[index % PIPELINES.length] as string),
      UNREAD,
    ),
}

const strangers: Attack = {
  name: 'requests without a valid token',
  run: async (attacker) => {
    let left = attacker.scaled(48_000)
    await attacker.onConnections(20, async (socket, index) => {
      while (left > 0 && !socket.destroyed) {
        left--
        const token = index % 2 === 0 ? '' : `plant_${randomBytes(32).toString('base64url')}`
        await attacker.exchange(socket, head('GET /plants/4', [], token))
      }
    })
  },
}

export const connectionAttacks = [
  idle,
  byteByByte,
  vanishing,
  unreadPages,
  unreadPipelines,
  strangers,
]

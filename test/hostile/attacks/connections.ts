/** Connections that stay open and send next to nothing. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Attack } from './attack.ts'
import { head } from './attacker.ts'

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

export const connectionAttacks = [idle, byteByByte]

/** Bodies that are expensive to parse, or that never end. */
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Attack } from './attack.ts'
import { type Attacker, createHead, createOf } from './attacker.ts'

/** The default `--body-limit`. */
const BODY_MAX = 2 ** 20

/** Bytes of a body around its long part, at most. */
const FRAME = 100

/** Creates with a number in which every digit counts. */
const DIGITS = [
  (digits: string) => `{"id":1${digits}1,"name":"x"}`,
  (digits: string) => `{"id":1,"name":"x","unread":1${digits}1}`,
  (digits: string) => `{"id":0.${digits}1,"name":"x"}`,
  (digits: string) => `{"id":1${digits}.${digits.slice(0, 10)}1e-9,"name":"x"}`,
]

const longDigits: Attack = {
  name: 'a number with many digits',
  run: (attacker) => {
    const digits = '0'.repeat(Math.min(80_000 * attacker.scale, BODY_MAX - FRAME))
    return sendAll(attacker, attacker.scaled(4), (index) =>
      createOf((DIGITS[index % DIGITS.length] as (typeof DIGITS)[0])(digits)),
    )
  },
}

const manyNumbers: Attack = {
  name: 'many small numbers and a long one',
  run: (attacker) => {
    const numbers = '1,'.repeat(Math.min(1, attacker.scale) * (BODY_MAX / 2 - FRAME))
    const body = createOf(`{"id":1,"name":"x","unread":[${numbers}9007199254740993]}`)
    return sendAll(attacker, attacker.scaled(5), () => body)
  },
}

const largeCreates: Attack = {
  name: 'large creates at once',
  run: (attacker) => {
    const name = 'x'.repeat(BODY_MAX - FRAME)
    const first = randomBytes(4).readUInt32BE()
    return sendAll(attacker, attacker.scaled(100), (index) =>
      createOf(`{"id":${first + index},"name":"${name}"}`),
    )
  },
}

const slowWriters: Attack = {
  name: 'bodies of 1 MB that never end',
  run: async (attacker) => {
    const most = Buffer.alloc(BODY_MAX - FRAME, 'x')
    const drips: NodeJS.Timeout[] = []
    await attacker.onConnections(attacker.scaled(500), (socket) => {
      socket.resume().write(createHead(BODY_MAX))
      socket.write(most)
      const drip = setInterval(() => socket.write('x'), 500)
      drips.push(drip)
      socket.on('close', () => clearInterval(drip))
    })
    await delay(Math.min(5000, 5000 * attacker.scale))
  },
}

const abandonedBodies: Attack = {
  name: 'connections cut in the middle of a body',
  run: async (attacker) => {
    const half = Buffer.alloc(100_000, 'x')
    await attacker.onConnections(attacker.scaled(2000), (socket) => {
      socket.write(createHead(BODY_MAX))
      return new Promise<void>((resolve) => {
        socket.on('close', () => resolve()).write(half, () => socket.destroy())
      })
    })
  },
}

/** Sends each request on its own connection. */
async function sendAll(
  attacker: Attacker,
  number: number,
  requestOf: (index: number) => string,
): Promise<void> {
  await attacker.onConnections(number, (socket, index) =>
    attacker.exchange(socket, requestOf(index)),
  )
}

export const bodyAttacks = [longDigits, manyNumbers, largeCreates, slowWriters, abandonedBodies]

/** Bodies that are expensive to parse, large, or never end. */
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Attack, type Attacker, createHead, createOf } from './attacker.ts'

/** The default `--body-limit`. */
const BODY_MAX = 2 ** 20

/** Bytes of a body around its long part, at most. */
const FRAME = 100

/** Creates with a number in which every digit counts, or with many numbers. */
const NUMBERS: readonly ((length: number) => string)[] = [
  (length) => `{"id":1${'0'.repeat(length)}1,"name":"x"}`,
  (length) => `{"id":1,"name":"x","unread":1${'0'.repeat(length)}1}`,
  (length) => `{"id":0.${'0'.repeat(length)}1,"name":"x"}`,
  (length) => `{"id":1${'0'.repeat(length)}.00000000001e-9,"name":"x"}`,
  (length) => `{"id":1,"name":"x","unread":[${'1,'.repeat(length / 2)}9007199254740993]}`,
]

const expensiveNumbers: Attack = {
  name: 'numbers that are expensive to parse',
  run: (attacker) => {
    const length = Math.min(250_000 * attacker.scale, BODY_MAX - FRAME)
    return sendAll(attacker, attacker.scaled(10), (index) =>
      createOf((NUMBERS[index % NUMBERS.length] as (typeof NUMBERS)[0])(length)),
    )
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
    await attacker.onConnections(attacker.scaled(500), (socket) => {
      socket.resume().write(createHead(BODY_MAX))
      socket.write(most)
      const drip = setInterval(() => socket.write('x'), 500)
      socket.on('close', () => clearInterval(drip))
    })
    await delay(Math.min(5000, 5000 * attacker.scale))
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

export const bodyAttacks = [expensiveNumbers, largeCreates, slowWriters]

/** Clients that keep the service busy, or its memory in use, so that others have to wait. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Attack,
  type Attacker,
  createHead,
  createOf,
  DURATION_MS,
  endOf,
  head,
} from './attacker.ts'

const UNREAD = { reads: false }

const SMALL = head('GET /plants/4')

/** Below the 16 KB that Node accepts, in fields of three bytes. */
const MANY_FIELDS = Array.from({ length: 985 }, (_, index) => `a${index}:`)

/** The most that are accepted, in as many bytes. */
const LONG_FIELDS = Array.from({ length: 98 }, (_, index) => `a${index}: ${'x'.repeat(150)}`)

function unreadHeads(name: string, fields: readonly string[]): Attack {
  return {
    name,
    run: async (attacker) => {
      const requests = head('GET /documentation/static/swagger-ui-bundle.js', fields, '').repeat(
        100,
      )
      await repeat(attacker, () =>
        attacker.onConnections(attacker.scaled(100), (socket) => socket.write(requests), UNREAD),
      )
    },
  }
}

const longAcceptEncoding: Attack = {
  name: 'docs in many codings, no token',
  run: async (attacker) => {
    const codings = Array.from({ length: 1700 }, (_, index) => `a${index};q=0.1`).join(',')
    const request = head(
      'GET /documentation/static/index.css',
      [`Accept-Encoding: ${codings.slice(0, 16_000)}`],
      '',
    )
    const end = endOf(attacker)
    await attacker.onConnections(attacker.scaled(100), async (socket) => {
      while (performance.now() < end && (await attacker.exchange(socket, request)));
    })
  },
}

const reconnects: Attack = {
  name: 'busy connections and new ones',
  run: async (attacker) => {
    const end = endOf(attacker)
    const keepsAlive = attacker.onConnections(attacker.scaled(500), async (socket) => {
      while (performance.now() < end && (await attacker.exchange(socket, SMALL)));
    })
    const connects = Array.from({ length: attacker.scaled(500) }, async () => {
      while (performance.now() < end) {
        await attacker.onConnections(1, async (socket) => {
          await attacker.exchange(socket, SMALL)
          socket.destroy()
        })
      }
    })
    await Promise.all([keepsAlive, ...connects])
  },
}

const searches: Attack = {
  name: 'searches and lists of tags',
  run: async (attacker) => {
    // Expensive to find, and to compare with each other.
    const tag = 'x'.repeat(500_000)
    const first = randomBytes(4).readUInt32BE()
    await attacker.onConnections(attacker.scaled(10), (socket, index) =>
      attacker.exchange(
        socket,
        createOf(`{"id":${first + index},"name":"x","tag":"${index}${tag}"}`),
      ),
    )
    // No name matches, but those that are long almost do.
    const text = `${'x'.repeat(99)}y`
    const queries = [
      `/plants?q=${text}`,
      `/plants?q=${text}&tag=Tree&after=1000`,
      '/tags?limit=1000',
    ]
    const requests = queries.map((query) => head(`GET ${query}`))
    const end = endOf(attacker)
    const clients: Promise<void>[] = []
    await attacker.onConnections(attacker.scaled(100), (socket, index) => {
      const request = requests[index % requests.length] as string
      const repeatSearch = async () => {
        while (performance.now() < end && (await attacker.exchange(socket, request)));
      }
      clients.push(repeatSearch())
    })
    await Promise.all(clients)
  },
}

/** Each keeps the store busy for milliseconds, and nobody waits for the response. */
const abandonedReads: Attack = {
  name: 'large reads on connections that close',
  run: async (attacker) => {
    const name = 'x'.repeat(1_000_000)
    const first = randomBytes(4).readUInt32BE()
    await attacker.onConnections(Math.min(36, attacker.scaled(400)), (socket, index) =>
      attacker.exchange(socket, createOf(`{"id":${first + index},"name":"${name}"}`)),
    )
    const queries = [
      `/plants?limit=1000&after=${first - 1}`,
      `/plants/${first}`,
      '/changes?limit=1000',
    ]
    const requests = queries.map((query) => head(`GET ${query}`))
    await attacker.onConnections(attacker.scaled(4000), (socket, index) => {
      socket.write(requests[index % requests.length] as string, () => socket.destroy())
    })
  },
}

const eventStreams: Attack = {
  name: 'event streams over old changes',
  run: async (attacker) => {
    const request = head('GET /changes', ['Accept: text/event-stream'])
    await attacker.onConnections(attacker.scaled(600), (socket) => socket.resume().write(request))
    await delay(Math.min(1, attacker.scale) * DURATION_MS)
  },
}

const unreadBatches: Attack = {
  name: 'batches whose responses are not read',
  run: async (attacker) => {
    const plants = Array.from({ length: 1000 }, (_, index) => ({ id: index, name: 'Abies alba' }))
    const body = JSON.stringify(plants)
    const request = createHead(Buffer.byteLength(body)).replace('/plants ', '/plants/batch ') + body
    const page = head('GET /plants?limit=1000')
    const end = AbortSignal.timeout(Math.ceil(endOf(attacker) - performance.now()))
    await attacker.onConnections(
      4,
      async (socket) => {
        const closed = new AbortController()
        socket.once('close', () => closed.abort())
        const signal = AbortSignal.any([closed.signal, end])
        while (!signal.aborted) {
          // The buffers stay full until the end, or until the service gives up.
          if (!socket.write(page + request)) await once(socket, 'drain', { signal }).catch(() => {})
        }
      },
      UNREAD,
    )
  },
}

/** Reads 15 KB/s in all. */
const slowReaders: Attack = {
  name: 'large responses, read slowly',
  run: async (attacker) => {
    // Six bytes of JSON per character: more than the buffers of the system hold.
    const name = '\\u0001'.repeat(170_000)
    const id = randomBytes(4).readUInt32BE()
    await attacker.onConnections(1, (socket) =>
      attacker.exchange(socket, createOf(`{"id":${id},"name":"${name}"}`)),
    )
    const request = head(`GET /plants/${id}`)
    const end = endOf(attacker)
    const reads = async (socket: Socket) => {
      while (performance.now() < end && !socket.destroyed) {
        socket.write(request)
        await delay(1000)
        socket.read(230)
      }
    }
    await attacker.onConnections(attacker.scaled(66), reads, UNREAD)
  },
}

/** Each has another signature, which no limit but that on failures keeps the service from checking. */
const forgedTokens: Attack = {
  name: 'forged tokens of the issuer',
  run: async (attacker) => {
    const [header, claims] = ['{"alg":"ES256","typ":"at+jwt"}', '{"sub":"grace"}'].map(btoa)
    const end = endOf(attacker)
    await attacker.onConnections(attacker.scaled(100), async (socket) => {
      const forge = () => `${header}.${claims}.${randomBytes(64).toString('base64url')}`
      const send = () => attacker.exchange(socket, head('GET /plants/4', [], forge()))
      while (performance.now() < end && (await send()));
    })
  },
}

/** Repeats an attack once a second. */
async function repeat(attacker: Attacker, run: () => Promise<void>): Promise<void> {
  for (const end = endOf(attacker); performance.now() < end; ) {
    await run()
    await delay(1000)
  }
}

export const waitingAttacks = [
  unreadHeads('pipelined heads of 985 fields, no token', MANY_FIELDS),
  unreadHeads('pipelined heads of 16 KB, no token', LONG_FIELDS),
  longAcceptEncoding,
  reconnects,
  searches,
  abandonedReads,
  eventStreams,
  unreadBatches,
  slowReaders,
  forgedTokens,
]

import { once } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'
import t from 'tap'
import { BatchQueue } from '../../src/http/batch-queue.ts'
import { formatHead, openConnection } from '../helpers/connection.ts'
import { startService } from '../helpers/service.ts'

const KIBI = 2 ** 10

const turn = () => new Promise(setImmediate)

/** A queue, and the batches that have started. */
function setUp() {
  let now = 0
  const queue = new BatchQueue(() => now)
  const log: string[] = []
  const enter = (name: string, bytes: number) => {
    const reject = () => log.push(`${name} rejected`)
    queue.enter(bytes, () => log.push(name), reject)
  }
  return { queue, log, enter, wait: (milliseconds: number) => (now += milliseconds) }
}

t.test('each turn of the event loop starts a few batches', async (t) => {
  const { log, enter } = setUp()
  for (const name of ['a', 'b', 'c', 'd', 'e']) enter(name, 16 * KIBI)
  t.same(log, ['a', 'b'])
  await turn()
  t.same(log, ['a', 'b', 'c', 'd'])
  await turn()
  t.same(log, ['a', 'b', 'c', 'd', 'e'])
})

t.test('batches wait for room, in order', async (t) => {
  const { queue, log, enter } = setUp()
  enter('first', 200 * KIBI)
  await turn()
  enter('large', 100 * KIBI)
  enter('small', 1)
  await turn()
  t.same(log, ['first'])
  queue.leave(200 * KIBI)
  await turn()
  t.same(log, ['first', 'large', 'small'])
})

t.test('a batch of any size starts while no other is in service', async (t) => {
  const { queue, log, enter } = setUp()
  enter('huge', 1000 * KIBI)
  enter('next', 0)
  await turn()
  t.same(log, ['huge'])
  queue.leave(1000 * KIBI)
  t.same(log, ['huge', 'next'])
})

t.test('batches that have waited too long are rejected', async (t) => {
  const { queue, log, enter, wait } = setUp()
  enter('first', 256 * KIBI)
  enter('late', 1)
  enter('too late', 1)
  await turn()
  wait(5001)
  enter('new', 1)
  queue.leave(256 * KIBI)
  t.same(log, ['first', 'late rejected', 'too late rejected', 'new'])
})

/** A batch of 40 kB, so that a few of them fill the queue. */
const batch = (from: number) =>
  Array.from({ length: 1000 }, (_, index) => ({ id: from + index, name: 'Abies alba' }))

t.test('more batches than the store lets wait are stored one after the other', async (t) => {
  // The clock stands still, so no batch is rejected because it has waited too long.
  const service = await startService(t, { now: () => 0 })
  const calls = Array.from({ length: 20 }, (_, index) =>
    service.call({ path: '/plants/batch', body: batch(index * 1000) }),
  )
  const statuses = (await Promise.all(calls)).map(({ status }) => status)
  t.same(new Set(statuses), new Set([200]))
})

t.test('the batches of clients that have disconnected are not stored', async (t) => {
  const held = Promise.withResolvers<void>()
  let begun = 0
  const service = await startService(t, {
    instead: {
      createAll: async () => {
        begun += 1
        await held.promise
        return { created: 0, replayed: 0 }
      },
    },
  })
  const body = JSON.stringify(batch(0))
  const head = formatHead(
    service,
    'POST /plants/batch',
    `content-type: application/json\r\ncontent-length: ${body.length}\r\n`,
  )
  const received: Socket[] = []
  service.app.server.on('connection', (socket) => received.push(socket))
  const sockets = Array.from({ length: 20 }, () => openConnection(t, service))
  for (const socket of sockets) socket.write(head + body)
  const isReceived = ({ bytesRead }: Socket) => bytesRead === head.length + body.length
  while (received.filter(isReceived).length < sockets.length || begun < 5) await turn()
  for (const socket of sockets) socket.resetAndDestroy()
  const connections = promisify(service.app.server.getConnections.bind(service.app.server))
  while ((await connections()) > 0) await turn()
  const before = begun
  held.resolve()
  const { status } = await service.call({ path: '/plants/batch', body: batch(0) })
  t.equal(status, 200)
  t.equal(begun, before + 1, 'only the batch of the client that is still there was stored')
})

t.test('a batch that has waited too long gets 503', async (t) => {
  let now = 0
  const held = Promise.withResolvers<{ created: number; replayed: number }>()
  const begun = Promise.withResolvers<void>()
  const service = await startService(t, {
    now: () => now,
    instead: {
      createAll: () => {
        begun.resolve()
        return held.promise
      },
    },
  })
  // Larger than all others together can be.
  const plants = batch(0).map((plant) => ({ ...plant, name: 'x'.repeat(500) }))
  const first = service.call({ path: '/plants/batch', body: plants })
  await begun.promise
  const received = waitForBody(service.app.server)
  const second = service.call({ path: '/plants/batch', body: batch(0) })
  await received
  now = 5001
  held.resolve({ created: 1000, replayed: 0 })
  t.match(await first, { status: 200 })
  t.match(await second, { status: 503, json: { error: 50303 } })
})

/** Resolves when the body of the next request is received. */
async function waitForBody(server: Server): Promise<void> {
  const [request] = (await once(server, 'request')) as [IncomingMessage]
  await once(request, 'end')
  await turn()
}

/** Limits on the memory and work of one process. */
import { on, once } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { formatHead, openConnection } from '../../helpers/network/connection.ts'
import { createIn } from '../../helpers/plants/single-changes.ts'
import { answersOf, readAll, startService } from '../../helpers/service/service.ts'

const MIB = 2 ** 20

/** Longer than any test takes. */
const HOUR_MS = 3_600_000

const busy = { status: 503, headers: { 'retry-after': '1' }, json: { error: 50303 } }

t.test(
  'when the request budget is used up, large bodies are rejected and small ones accepted',
  async (t) => {
    let now = 0
    const service = await startService(t, {
      config: { requestTimeout: HOUR_MS },
      clock: { monotonic: () => now },
    })
    const json = `Content-Type: application/json\r\nContent-Length: ${MIB}\r\n`
    const part = Buffer.alloc(MIB - 1, ' ')
    const sockets = Array.from({ length: 66 }, () => {
      const socket = openConnection(t, service)
      socket.write(formatHead(service, 'POST /plants', json))
      socket.write(part)
      return socket
    })
    // The first rejection arrives while the others are still sending.
    const [answer] = await Promise.race(sockets.map((socket) => once(socket, 'data')))
    t.match(answer.toString(), /^HTTP\/1.1 503 .*"error":50303/s)
    t.equal((await service.call({ body: { id: 1n, name: 'Abies alba Mill.' } })).status, 200)
    const large = { id: 2n, name: 'x'.repeat(MIB / 2) }
    t.match(await service.call({ body: large }), busy)
    now = 1000
    const lost = Promise.race(sockets.map((socket) => once(socket, 'data')))
    t.equal((await service.call({ body: large })).status, 200, 'the oldest body loses its memory')
    t.match(String(await lost), /^HTTP\/1.1 503 /)
    now = 0
    const open = [...sockets]
    const closed = open.map((socket) => once(socket, 'close'))
    for (const socket of open) socket.destroy()
    await Promise.all(closed)
    t.equal(
      (await service.call({ body: large })).status,
      200,
      'when they disconnect, the budget is free again',
    )
  },
)

t.test(
  'when the response budget is used up, large responses are rejected and small ones sent',
  async (t) => {
    let now = 0
    const service = await startService(t, {
      responseTimeoutMs: HOUR_MS,
      clock: { monotonic: () => now },
    })
    // Six bytes of JSON per character: in total more than the system's buffers hold.
    const name = '\x01'.repeat(2 * MIB)
    await createIn(service.store, { id: 1n, name })
    await createIn(service.store, { id: 2n, name: 'Abies alba Mill.' })
    const request = formatHead(service, 'GET /plants/1')
    const sockets: Socket[] = []
    const read = { method: 'GET', path: '/plants/1' }
    for (let status = 200; status === 200; ) {
      t.ok(sockets.length < 100, `${sockets.length} clients have not read`)
      const socket = openConnection(t, service)
      sockets.push(socket.pause())
      socket.write(request)
      const answer = await service.call(read)
      if (answer.status !== 200) t.match(answer, { ...busy, headers: { etag: undefined } })
      status = answer.status
    }
    t.equal((await service.call({ method: 'GET', path: '/plants/2' })).status, 200)
    now = 1000
    t.equal((await service.call(read)).status, 200, 'the oldest responses are aborted')
    for (const socket of sockets) socket.destroy()
    while ((await service.call(read)).status === 503);
    t.pass('when they disconnect, the budget is free again')
  },
)

t.test('concurrent readiness checks share one query of the store', async (t) => {
  const gate = Promise.withResolvers<void>()
  let asked = 0
  const service = await startService(t, {
    instead: {
      ping: () => {
        asked++
        return gate.promise
      },
    },
  })
  const arrived = on(service.app.server, 'request')
  const ready = () => service.call({ method: 'GET', path: '/health/ready', token: null })
  const answers = Array.from({ length: 50 }, ready)
  for (const _ of answers) await arrived.next()
  await setImmediate()
  gate.resolve()
  t.same(new Set((await Promise.all(answers)).map(({ status }) => status)), new Set([200]))
  t.equal(asked, 1)
  await ready()
  t.equal(asked, 2, 'a later check queries the store again')
})

t.test('a body can arrive in many small chunks, and one that ends early is no error', async (t) => {
  const lines: string[] = []
  const service = await startService(t, {
    logger: { stream: { write: (line) => void lines.push(line) } },
  })
  const socket = openConnection(t, service)
  const bytes = readAll(socket)
  const body = JSON.stringify({ id: 1, name: 'x'.repeat(40_000) })
  const parts = body.match(/.{1,100}/g) ?? []
  const chunks = parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`)
  const headers =
    'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n'
  const head = formatHead(service, 'POST /plants', headers)
  socket.write(`${head}${chunks.join('')}0\r\n\r\n`)
  t.match(answersOf(await bytes), [{ status: 200 }])
  t.equal((await service.stored(1n))?.name.length, 40_000)

  const leaving = openConnection(t, service)
  leaving.write(`${head}${chunks[0]}`)
  const [connection] = await once(service.app.server, 'connection')
  for (const _ of 'ab') await service.call({ method: 'GET' })
  leaving.resetAndDestroy()
  await new Promise((resolve) => connection.on('close', resolve))
  t.equal((await service.call({ method: 'GET' })).status, 200)
  t.notMatch(lines.join(''), /"level":[56]0/, 'no error is logged')
})

t.test('a response whose client has disconnected takes nothing from the budget', async (t) => {
  const gate = Promise.withResolvers<undefined>()
  const service = await startService(t, {
    instead: {
      get: async (id) => {
        if (id === 1n) await gate.promise
        return { id, name: 'x'.repeat(MIB) }
      },
    },
  })
  const closed: Promise<unknown>[] = []
  service.app.server.on('connection', (connection) => {
    closed.push(new Promise((resolve) => connection.on('close', resolve)))
  })
  const sockets = Array.from({ length: 80 }, () => openConnection(t, service))
  for (const socket of sockets) socket.write(formatHead(service, 'GET /plants/1'))
  for (const _ of 'ab') await service.call({ method: 'GET', path: '/health/live', token: null })
  for (const socket of sockets) socket.resetAndDestroy()
  await Promise.all(closed)
  gate.resolve(undefined)
  for (const _ of 'ab') {
    t.equal((await service.call({ method: 'GET', path: '/plants/2' })).status, 200)
  }
})

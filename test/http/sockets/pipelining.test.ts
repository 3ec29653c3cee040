/** Requests that a client sends before it has the responses to earlier ones (RFC 9112 §9.3.2). */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { openConnection } from '../../helpers/network/connection.ts'
import { createIn, onChange } from '../../helpers/plants/single-changes.ts'
import { answersOf, readAll, type Service, startService } from '../../helpers/service/service.ts'
import { closed } from '../../helpers/service/threads.ts'

const MIB = 2 ** 20

let service: Service
t.before(async () => {
  service = await startService(t)
})

/** A service whose reads wait for `release`, and that records which operations have begun. */
async function startHeldService(t: Test) {
  const begun: string[] = []
  const gate = Promise.withResolvers<undefined>()
  const first = Promise.withResolvers<void>()
  const service = await startService(t, {
    instead: {
      get: (id) => {
        begun.push(`GET ${id}`)
        first.resolve()
        return gate.promise
      },
      change: onChange('remove', async ({ id }) => {
        begun.push(`DELETE ${id}`)
        return 'plant-not-found'
      }),
    },
  })
  return { service, begun, first: first.promise, release: () => gate.resolve(undefined) }
}

function head({ token }: Service, line: string, headers = ''): string {
  return `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${headers}\r\n`
}

t.test('a connection serves one request at a time, and closes after another arrives', async (t) => {
  const { service, begun, first, release } = await startHeldService(t)
  const socket = openConnection(t, service)
  const bytes = readAll(socket)
  socket.write(head(service, 'GET /plants/1') + head(service, 'DELETE /plants/2'))
  await first
  socket.write(head(service, 'DELETE /plants/3'))
  await service.call({ method: 'DELETE', path: '/plants/5' })
  release()
  t.match(answersOf(await bytes), [{ status: 404, headers: { connection: 'close' } }])
  t.same(begun, ['GET 1', 'DELETE 5'])
})

t.test('a client that pipelines can take its time to read the response', async (t) => {
  // The system takes all of it at once, but delivers only a part before the client reads.
  const name = 'x'.repeat(MIB)
  await createIn(service.store, { id: 101n, name })
  const socket = openConnection(t, service).pause()
  const request = once(service.app.server, 'request')
  // More than the service reads.
  const padding = `X-Padding: ${'x'.repeat(8000)}\r\n`
  socket.write(head(service, 'GET /plants/101', padding).repeat(200))
  const [, response] = (await request) as [unknown, ServerResponse]
  await once(response, 'finish')
  for (const _ of 'ab') await service.call({ method: 'GET', path: '/plants/2' })
  const answers = answersOf(await readAll(socket.resume()))
  t.match(answers, [{ status: 200, headers: { connection: 'close' } }])
  t.equal(answers[0]?.body.length, name.length + '{"id":101,"name":""}'.length)
})

t.test(
  'a response whose head has been sent is completed before the connection closes',
  async (t) => {
    // More than the system takes.
    const name = 'x'.repeat(8 * MIB)
    await createIn(service.store, { id: 102n, name })
    const socket = openConnection(t, service).pause()
    socket.write(head(service, 'GET /plants/102'))
    const [, response] = (await once(service.app.server, 'request')) as [unknown, ServerResponse]
    while (!response.writableEnded) await new Promise(setImmediate)
    socket.write(head(service, 'GET /plants/102'))
    await once(service.app.server, 'request')
    const answers = answersOf(await readAll(socket.resume()))
    t.match(answers, [{ status: 200, headers: { connection: 'keep-alive' } }])
    t.equal(answers[0]?.body.length, name.length + '{"id":101,"name":""}'.length)
  },
)

t.test('what follows a pipelined request is neither parsed nor kept', async (t) => {
  const { service, first, release } = await startHeldService(t)
  let parsed = 0
  service.app.server.on('request', () => parsed++)
  const socket = openConnection(t, service)
  const [[connection]] = await Promise.all([
    once(service.app.server, 'connection'),
    once(socket, 'connect'),
  ])
  const bytes = readAll(socket)
  const tiny = 'GET / HTTP/1.1\r\n\r\n'
  const length = 4 * MIB
  socket.write(head(service, 'GET /plants/1') + tiny.repeat(length / tiny.length))
  await first
  for (let turn = 0; turn < 20; turn++) await service.call({ method: 'DELETE', path: '/plants/5' })
  t.equal(parsed, 22)
  t.ok(connection.bytesRead < MIB, `${connection.bytesRead} bytes were read`)
  release()
  t.match(answersOf(await bytes), [{ status: 404 }])
})

t.test('a client that pipelines and does not close its side is disconnected', async (t) => {
  const service = await startService(t, { responseTimeoutMs: 200 })
  const socket = connect({ port: service.port, host: '127.0.0.1', allowHalfOpen: true })
  t.teardown(() => socket.destroy())
  const [connection] = (await once(service.app.server, 'connection')) as [Socket]
  socket.resume().write(head(service, 'GET /plants/1').repeat(2))
  await closed(connection)
  t.pass('after the response timeout')
})

for (const what of [
  'CONNECT x:443',
  'PRI *',
  'GET /plants HTTP/1.1\r\nUpgrade: x\r\nConnection: upgrade\r\nX: y',
]) {
  t.test(`after a pipelined request, ${what.slice(0, 7)} is ignored`, async (t) => {
    const { service, first, release } = await startHeldService(t)
    const socket = openConnection(t, service)
    const bytes = readAll(socket)
    const others = `${head(service, 'GET /plants/2')}${what} HTTP/1.1\r\nHost: x\r\n\r\n`
    socket.end(head(service, 'GET /plants/1') + others)
    await first
    release()
    t.match(answersOf(await bytes), [{ status: 404 }])
  })
}

t.test('a body that turns out malformed after its response closes the connection', async (t) => {
  const socket = connect(service.port, '127.0.0.1')
  const bytes = readAll(socket)
  socket.write('POST /plants HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
  await once(socket, 'data')
  socket.write('xyz\r\n')
  t.same(
    answersOf(await bytes).map(({ status }) => status),
    [401],
  )
})

t.test('a reset after CONNECT leaves other connections alone', async (t) => {
  for (let sent = 0; sent < 10; sent++) {
    const socket = connect(service.port, '127.0.0.1').on('error', () => {})
    const closed = new Promise((resolve) => socket.on('close', resolve))
    socket.write('CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n', () => socket.resetAndDestroy())
    await closed
  }
  t.equal((await service.call({ method: 'GET' })).status, 200)
})

t.test('a request of a connection that has been closed is not served', async (t) => {
  const { service, begun } = await startHeldService(t)
  service.app.server.prependOnceListener('request', ({ socket }) => socket.destroy())
  const socket = openConnection(t, service)
  const bytes = readAll(socket)
  socket.write(head(service, 'DELETE /plants/1'))
  t.equal((await bytes).length, 0)
  await service.call({ method: 'DELETE', path: '/plants/5' })
  t.same(begun, ['DELETE 5'])
})

t.test('requests after a response that ends the connection are not served', async (t) => {
  await service.call({ body: { id: 3n, name: 'Abies alba Mill.' } })
  const first = head(
    service,
    'POST /plants',
    'Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n',
  )
  const socket = connect(service.port, '127.0.0.1')
  const bytes = readAll(socket)
  socket.write(
    `${first.replace('HTTP/1.1', 'HTTP/1.0')}0\r\n\r\n${head(service, 'DELETE /plants/3')}`,
  )
  t.match(answersOf(await bytes), [{ status: 400, headers: { connection: 'close' } }])
  t.ok(await service.stored(3n))
})

t.test('a change that needs no body succeeds even if it has malformed content', async (t) => {
  await service.call({ body: { id: 1n, name: 'Abies alba Mill.' } })
  const socket = connect(service.port, '127.0.0.1')
  const bytes = readAll(socket)
  socket.write(`${head(service, 'DELETE /plants/1', 'Transfer-Encoding: chunked\r\n')}zz\r\n`)
  t.match(answersOf(await bytes), [{ status: 204, headers: { connection: 'close' } }])
  t.equal(await service.stored(1n), undefined)
})

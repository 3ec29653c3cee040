/** Requests that a client sends before it has the responses to earlier ones (RFC 9112 §9.3.2). */
import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { answersOf, readAll, type Service, startService } from '../helpers/service.ts'

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
      remove: async (id) => {
        begun.push(`DELETE ${id}`)
        return 'not-found'
      },
    },
  })
  return { service, begun, first: first.promise, release: () => gate.resolve(undefined) }
}

function head({ token }: Service, line: string, headers = ''): string {
  return `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${headers}\r\n`
}

/** Sends two requests. Once the second is answered, every earlier request that can begin has begun. */
async function waitForTurns(service: Service): Promise<void> {
  for (const _ of 'ab') await service.call({ method: 'DELETE', path: '/plants/5' })
}

t.test('the requests of a connection are served one at a time, in order', async (t) => {
  const { service, begun, first, release } = await startHeldService(t)
  const socket = connect(service.port, '127.0.0.1')
  const bytes = readAll(socket)
  const last = head(service, 'GET /plants/4', 'Connection: close\r\n')
  const lines = ['GET /plants/1', 'GET /plants/2', 'DELETE /plants/3']
  socket.write(lines.map((line) => head(service, line)).join('') + last)
  await first
  await waitForTurns(service)
  t.same(begun, ['GET 1', 'DELETE 5', 'DELETE 5'])
  release()
  t.same(
    answersOf(await bytes).map(({ status }) => status),
    [404, 404, 404, 404],
  )
  t.same(begun.slice(3), ['GET 2', 'DELETE 3', 'GET 4'])
})

t.test('queued requests are dropped when their connection closes', async (t) => {
  const { service, begun, first, release } = await startHeldService(t)
  const socket = connect(service.port, '127.0.0.1')
  const [[connection]] = await Promise.all([
    once(service.app.server, 'connection'),
    once(socket, 'connect'),
  ])
  socket.write(head(service, 'GET /plants/1') + head(service, 'DELETE /plants/2').repeat(10))
  await first
  const closed = new Promise((resolve) => connection.on('close', resolve))
  socket.resetAndDestroy()
  await closed
  release()
  await waitForTurns(service)
  t.same(begun, ['GET 1', 'DELETE 5', 'DELETE 5'])
})

t.test('reading from a connection pauses while many requests are queued', async (t) => {
  const { service, first, release } = await startHeldService(t)
  const socket = connect(service.port, '127.0.0.1')
  const [[connection]] = await Promise.all([
    once(service.app.server, 'connection'),
    once(socket, 'connect'),
  ])
  const bytes = readAll(socket)
  const COUNT = 2000
  const request = head(service, 'GET /plants/1', `X-Padding: ${'x'.repeat(8000)}\r\n`)
  socket.write(request)
  await first
  const paused = once(connection, 'pause')
  socket.end(request.repeat(COUNT - 1))
  await paused
  // The parser resumes the connection after the pause. This is enough time for further reads.
  for (let round = 0; round < 5; round++) await waitForTurns(service)
  t.ok(
    connection.bytesRead < (COUNT / 2) * request.length,
    `${connection.bytesRead} bytes were read`,
  )
  release()
  t.equal(answersOf(await bytes).length, COUNT, 'all requests are served eventually')
})

t.test('a connection is closed when the queue of the process is full', async (t) => {
  const { service, first, release } = await startHeldService(t)
  const tiny = head(service, 'GET /plants/1')
  const open = Array.from({ length: 60 }, async () => {
    const socket = connect(service.port, '127.0.0.1')
    const bytes = readAll(socket)
    socket.write(tiny.repeat(500))
    return (await bytes).length
  })
  await first
  const lengths = await Promise.race(open)
  t.equal(lengths, 0, 'no response has been sent yet')
  const health = await service.call({ method: 'GET', path: '/health/live', token: null })
  t.equal(health.status, 200, 'other connections are served')
  const read = service.call({ method: 'GET', path: '/plants/1' })
  release()
  t.equal((await read).status, 404)
  service.app.server.closeAllConnections()
  await Promise.all(open)
  t.equal((await service.call({ method: 'GET', path: '/plants/1' })).status, 404)
})

const BAD_BODIES = [
  { what: 'a bad chunk', rest: 'Transfer-Encoding: chunked\r\n\r\nxyz\r\n', halfClose: false },
  { what: 'a body that ends early', rest: 'Content-Length: 50\r\n\r\n{"id":', halfClose: true },
]

for (const { what, rest, halfClose } of BAD_BODIES) {
  t.test(`requests before ${what} are answered first`, async (t) => {
    const service = await startService(t)
    const json = 'Content-Type: application/json\r\n'
    const plant = '{"id":1,"name":"Abies alba Mill."}'
    const good = `${head(service, 'POST /plants', `${json}Content-Length: ${plant.length}\r\n`)}${plant}`
    const bad = head(service, 'POST /plants', json).replace(/\r\n$/, rest)
    for (const sent of [good + bad, good + good + bad]) {
      const socket = connect(service.port, '127.0.0.1')
      const bytes = readAll(socket)
      socket.write(sent)
      if (halfClose) socket.end()
      const statuses = answersOf(await bytes).map(({ status }) => status)
      t.same(statuses, sent === good + bad ? [200, 400] : [200, 200, 400])
    }
    t.equal(await service.count(), 1)
  })
}

t.test('requests before CONNECT are answered first', async (t) => {
  const service = await startService(t)
  const plant = '{"id":1,"name":"Abies alba Mill."}'
  const headers = `Content-Type: application/json\r\nContent-Length: ${plant.length}\r\n`
  const socket = connect(service.port, '127.0.0.1')
  const bytes = readAll(socket)
  socket.write(
    `${head(service, 'POST /plants', headers)}${plant}CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n`,
  )
  t.same(
    answersOf(await bytes).map(({ status }) => status),
    [200, 400],
  )
})

t.test('a body that turns out malformed after its response closes the connection', async (t) => {
  const service = await startService(t)
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
  const service = await startService(t)
  for (let sent = 0; sent < 300; sent++) {
    const socket = connect(service.port, '127.0.0.1').on('error', () => {})
    const closed = new Promise((resolve) => socket.on('close', resolve))
    socket.write('CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n', () => socket.resetAndDestroy())
    await closed
  }
  t.equal((await service.call({ method: 'GET' })).status, 200)
})

t.test('requests after a response that ends the connection are not served', async (t) => {
  const service = await startService(t)
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
  t.equal(await service.count(), 1)
})

t.test('a change that needs no body succeeds even if it has malformed content', async (t) => {
  const service = await startService(t)
  await service.call({ body: { id: 1n, name: 'Abies alba Mill.' } })
  const socket = connect(service.port, '127.0.0.1')
  const bytes = readAll(socket)
  socket.write(`${head(service, 'DELETE /plants/1', 'Transfer-Encoding: chunked\r\n')}zz\r\n`)
  t.match(answersOf(await bytes), [{ status: 204, headers: { connection: 'close' } }])
  t.equal(await service.count(), 0)
})

t.test('a body in tiny chunks is rejected before it takes up memory', async (t) => {
  const service = await startService(t)
  for (const authorization of [`Authorization: Bearer ${service.token}\r\n`, '']) {
    const socket = connect(service.port, '127.0.0.1').on('error', () => {})
    const bytes = readAll(socket)
    const line = `POST /plants HTTP/1.1\r\nHost: x\r\n${authorization}`
    const headers = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
    socket.write(line + headers + '1\r\n \r\n'.repeat(65_000))
    const [answer] = answersOf(await bytes)
    if (answer?.status !== 401) t.match(answer, { status: 400, body: /chunks of the body/ })
  }
  t.equal((await service.call({ method: 'GET' })).status, 200)
})

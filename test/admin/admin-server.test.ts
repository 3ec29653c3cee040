import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../service/plant-store.ts'
import { AdminServer, type Page } from '../../src/admin/admin-server.ts'
import { answersOf, readAll, send } from '../helpers/service.ts'

const PAGE: Page = { type: 'text/plain', content: 'content' }

/** Starts a server with the page `/page`, and returns its port. */
async function start(
  t: Test,
  read: () => Promise<Page> = async () => PAGE,
  lifetimeMs?: number,
): Promise<number> {
  const server = new AdminServer({
    endpoint: { host: '127.0.0.1', port: 0 },
    pages: { '/page': read },
    log: pino({ level: 'silent' }),
    ...(lifetimeMs !== undefined && { lifetimeMs }),
  })
  const { port } = await server.listen()
  t.teardown(() => server.close())
  return port
}

function open(t: Test, port: number): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  t.teardown(() => socket.destroy())
  return socket
}

async function get(port: number, path: string, method = 'GET', headers = {}) {
  return send(port, { method, path, headers, body: undefined })
}

t.test('a page is served without its query, and the connection is closed', async (t) => {
  const port = await start(t)
  for (const path of ['/page', '/page?a=/b']) {
    const answer = await get(port, path, 'GET', { connection: 'keep-alive' })
    t.match(answer, { status: 200, body: 'content' })
    t.match(answer.headers, {
      'content-type': 'text/plain',
      'cache-control': 'no-store',
      connection: 'close',
    })
  }
})

t.test('HEAD responds like GET, without the content', async (t) => {
  const answer = await get(await start(t), '/page', 'HEAD')
  t.match(answer, { status: 200, body: '', headers: { 'content-length': '7' } })
})

t.test('nothing else is served', async (t) => {
  const port = await start(t)
  for (const path of ['/', '/plants', '/page/', '/Page', '/%70age', '/toString', '//page']) {
    const answer = await get(port, path)
    t.equal(answer.status, 404, path)
    t.match(JSON.parse(answer.body), { error: 40401, message: `unknown path ${path}` })
  }
})

t.test('other methods are not allowed', async (t) => {
  const port = await start(t)
  for (const method of ['POST', 'DELETE', 'OPTIONS', 'TRACE', 'PURGE']) {
    const answer = await get(port, '/page', method)
    t.match(answer, { status: 405, headers: { allow: 'GET, HEAD' } }, method)
  }
})

t.test('a request with a body is rejected without reading it', async (t) => {
  const port = await start(t)
  for (const header of ['Content-Length: 1000000000', 'Transfer-Encoding: chunked']) {
    const socket = open(t, port)
    socket.write(`GET /page HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n`)
    t.match(answersOf(await readAll(socket)), [{ status: 413 }])
  }
})

for (const { error, status } of [
  { error: new StoreUnavailable('failing', 'SQLITE_IOERR'), status: 503 },
  { error: new TypeError('a bug'), status: 500 },
]) {
  t.test(`a page that fails with ${error.name} responds with ${status}`, async (t) => {
    const port = await start(t, () => Promise.reject(error))
    const answer = await get(port, '/page')
    t.equal(answer.status, status)
    t.notMatch(answer.body, /SQLITE|a bug/)
  })
}

t.test('a connection that pipelines a second request is closed', async (t) => {
  const port = await start(t, () => new Promise(() => {}))
  const socket = open(t, port)
  socket.write('GET /page HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1000))
  t.equal(String(await readAll(socket)), '')
})

t.test('a connection that takes too long to send a request is closed', async (t) => {
  const port = await start(t, undefined, 100)
  const socket = open(t, port)
  socket.write('GET /page HTTP/1.1\r\n')
  t.equal(String(await readAll(socket)), '')
})

t.test('malformed requests do no harm', async (t) => {
  const port = await start(t)
  for (const bytes of ['\0\r\n\r\n', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n']) {
    const socket = open(t, port)
    socket.write(bytes)
    await readAll(socket)
  }
  const upgrade = { connection: 'upgrade', upgrade: 'websocket' }
  t.equal((await get(port, '/page', 'GET', upgrade)).status, 200)
})

t.test('a client that disconnects before the response does no harm', async (t) => {
  const asked = Promise.withResolvers<void>()
  const page = Promise.withResolvers<Page>()
  const port = await start(t, () => {
    asked.resolve()
    return page.promise
  })
  const socket = open(t, port)
  socket.write('GET /page HTTP/1.1\r\nHost: x\r\n\r\n')
  await asked.promise
  socket.resetAndDestroy()
  page.resolve(PAGE)
  t.equal((await get(port, '/page')).status, 200)
})

t.test('connections are limited', async (t) => {
  const port = await start(t)
  const sockets = Array.from({ length: 64 }, () => open(t, port))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const refused = open(t, port)
  refused.write('GET /page HTTP/1.1\r\nHost: x\r\n\r\n')
  t.equal(String(await readAll(refused)), '')
  sockets[0]?.write('GET /page HTTP/1.1\r\nHost: x\r\n\r\n')
  t.match(answersOf(await readAll(sockets[0] as Socket)), [{ status: 200 }])
})

t.test('closing cuts off the connections', async (t) => {
  const asked = Promise.withResolvers<void>()
  const server = new AdminServer({
    endpoint: { host: '127.0.0.1', port: 0 },
    pages: {
      '/page': () => {
        asked.resolve()
        return new Promise(() => {})
      },
    },
    log: pino({ level: 'silent' }),
  })
  const { port } = await server.listen()
  const idle = open(t, port)
  await once(idle, 'connect')
  const waiting = open(t, port)
  waiting.write('GET /page HTTP/1.1\r\nHost: x\r\n\r\n')
  await asked.promise
  const ends = [idle, waiting].map(readAll)
  await server.close()
  for (const bytes of await Promise.all(ends)) t.equal(String(bytes), '')
  await server.close()
})

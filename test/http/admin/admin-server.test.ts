import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type Logger, pino } from 'pino'
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../../service/store/plant-store.ts'
import { type AdminResponse, createAdminServer } from '../../../src/http/admin/admin-server.ts'
import { answersOf, readAll, send } from '../../helpers/service/service.ts'

const PAGE: AdminResponse = { type: 'text/plain', content: 'content' }

const GET = 'GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n'

/** Starts a server with the page `/page`, and returns its port. */
async function start(
  t: Test,
  read: () => Promise<AdminResponse> = async () => PAGE,
  {
    host = '127.0.0.1',
    log = pino({ level: 'silent' }),
    ...options
  }: { host?: string; log?: Logger; headTimeoutMs?: number; lifetimeMs?: number } = {},
): Promise<number> {
  const server = createAdminServer({
    address: { host, port: 0 },
    paths: { '/page': read },
    log,
    ...options,
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
  for (const path of ['/page', '/page?a=/b', `http://localhost:${port}/page`]) {
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
    socket.write(`GET /page HTTP/1.1\r\nHost: localhost\r\n${header}\r\n\r\n`)
    t.match(answersOf(await readAll(socket)), [{ status: 413 }])
  }
})

for (const { error, status } of [
  { error: new StoreUnavailable('failing', 'SQLITE_IOERR'), status: 503 },
  { error: new TypeError('a bug'), status: 500 },
]) {
  t.test(`a page that fails with ${error.name} responds with ${status}`, async (t) => {
    let logged = ''
    const write = (line: string) => {
      logged += line
    }
    const log = pino({}, { write })
    const port = await start(t, () => Promise.reject(error), { log })
    const answer = await get(port, '/page')
    t.equal(answer.status, status)
    t.notMatch(answer.body, /SQLITE|a bug/)
    t.match(logged, /SQLITE|a bug/, 'only the log gives the reason')
  })
}

t.test('a connection that takes too long to send a head gets 408', async (t) => {
  const port = await start(t, undefined, { headTimeoutMs: 100 })
  for (const part of ['', 'GET /page HTTP/1.1\r\n']) {
    const socket = open(t, port)
    socket.write(part)
    t.match(answersOf(await readAll(socket)), [{ status: 408 }])
  }
})

t.test('a response that takes too long is cut off', async (t) => {
  const port = await start(t, () => new Promise(() => {}), { lifetimeMs: 100 })
  const socket = open(t, port)
  socket.write(GET)
  t.equal(String(await readAll(socket)), '')
})

t.test('a malformed request gets an error', async (t) => {
  const socket = open(t, await start(t))
  socket.write('\0\r\n\r\n')
  const [answer, ...others] = answersOf(await readAll(socket))
  t.equal(answer?.status, 400)
  t.match(JSON.parse(String(answer?.body)), { error: Number, message: String })
  t.same(others, [])
})

t.test('on a loopback address, the host must be an address or localhost', async (t) => {
  const port = await start(t)
  for (const host of ['localhost', 'LOCALHOST:3001', '127.0.0.1', `192.0.2.1:${port}`, '[::1]:1']) {
    t.equal((await get(port, '/page', 'GET', { host })).status, 200, host)
  }
  for (const host of ['plants.example', 'localhost.example:3001', '127.0.0.1.example']) {
    const answer = await get(port, '/page', 'GET', { host })
    t.match(answer, { status: 400, body: /use localhost or an IP address/ }, host)
  }
  const old = open(t, port)
  old.write('GET /page HTTP/1.0\r\n\r\n')
  t.match(answersOf(await readAll(old)), [{ status: 200 }])
})

t.test('on other addresses, the host can be any name', async (t) => {
  const port = await start(t, undefined, { host: '0.0.0.0' })
  t.equal((await get(port, '/page', 'GET', { host: 'plants.example' })).status, 200)
})

t.test('a new connection replaces the oldest one that has sent no request', async (t) => {
  const port = await start(t)
  const sockets: Socket[] = []
  for (let count = 0; count < 64; count++) {
    const socket = open(t, port)
    await once(socket, 'connect')
    sockets.push(socket)
  }
  const [first, second] = sockets as [Socket, Socket]
  const closed = readAll(first)
  t.equal((await get(port, '/page')).status, 200)
  t.equal(String(await closed), '')
  second.write(GET)
  t.match(answersOf(await readAll(second)), [{ status: 200 }])
})

t.test('if all have sent a request, a new connection replaces the oldest', async (t) => {
  const asked = Promise.withResolvers<void>()
  const pending = Promise.withResolvers<AdminResponse>()
  let count = 0
  const port = await start(t, async () => {
    if (++count > 64) return PAGE
    if (count === 64) asked.resolve()
    return pending.promise
  })
  const sockets: Socket[] = []
  for (let count = 0; count < 64; count++) {
    const socket = open(t, port)
    await once(socket, 'connect')
    socket.write(GET)
    sockets.push(socket)
  }
  await asked.promise
  const [first, ...others] = sockets as [Socket, ...Socket[]]
  const closed = readAll(first)
  t.equal((await get(port, '/page')).status, 200)
  t.equal(String(await closed), '')
  pending.resolve(PAGE)
  for (const socket of others) t.match(answersOf(await readAll(socket)), [{ status: 200 }])
})

t.test('responses that nobody reads make no health check fail', async (t) => {
  // More than the system buffers.
  const large = { ...PAGE, content: 'x'.repeat(5 * 2 ** 20) }
  let count = 0
  const port = await start(t, async () => (++count > 64 ? PAGE : large))
  for (let unread = 0; unread < 64; unread++) {
    const socket = open(t, port)
    socket.write(GET)
    await once(socket, 'readable')
  }
  const checks = await Promise.all(Array.from({ length: 66 }, () => get(port, '/page')))
  t.same(new Set(checks.map(({ status }) => status)), new Set([200]))
})

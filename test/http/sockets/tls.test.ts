/** The service over TLS. */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { fastify } from 'fastify'
import t, { type Test } from 'tap'
import { readCertificate } from '../../../src/http/sockets/certificate.ts'
import { serveTls } from '../../../src/http/sockets/tls.ts'
import type { PlantStoreOptions } from '../../../src/index.ts'
import { startPlantStore } from '../../../src/index.ts'
import { issue, writeFiles } from '../../helpers/network/certificates.ts'
import { connectTls, sendTls } from '../../helpers/network/tls-client.ts'
import { createIn } from '../../helpers/plants/single-changes.ts'
import {
  readAll,
  type Service,
  type StartOptions,
  startService,
} from '../../helpers/service/service.ts'
import { ask } from '../../helpers/service/threads.ts'

const authority = issue({ name: 'authority' })
const { cert: ca } = authority
const pair = issue({ name: 'plants', hosts: ['localhost'], issuer: authority })

const files = writeFiles(t.testdir(), pair)

/** Longer than any test takes. */
const NEVER = 600_000

/** The service of all tests that neither stop it nor need other options. */
let service: Service
t.before(async () => {
  service = await startTls(t)
})

function startTls(t: Test, options: StartOptions = {}): Promise<Service> {
  return startService(t, { ...options, config: { ...options.config, ...files } })
}

function head(method: string, path: string, token: string, ...headers: string[]): string {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${token}`]
  return [...lines, ...headers, '\r\n'].join('\r\n')
}

function create(id: number, token: string): string {
  const body = JSON.stringify({ id, name: 'Abies' })
  const headers = ['Content-Type: application/json', `Content-Length: ${body.length}`]
  return head('POST', '/plants', token, ...headers) + body
}

t.test('requests are answered over TLS, even after the client has half-closed', async (t) => {
  const answers = await sendTls(service.port, ca, create(1, service.token))
  t.match(answers, [{ status: 200 }])
  t.ok(await service.stored(1n))
})

t.test('a request that follows its response over TLS is served', async (t) => {
  const { port, token } = service
  const socket = await connectTls(port, ca)
  t.teardown(() => socket.destroy())
  for (let id = 0; id < 5; id++) {
    t.equal((await ask(socket, create(id, token))).status, 200)
    t.equal((await ask(socket, head('GET', '/health/live', token))).status, 200)
  }
})

t.test('one request at a time is served over TLS', async (t) => {
  const { port, token } = service
  const live = head('GET', '/health/live', token)
  for (const [requests, count] of [
    [create(1, token).repeat(3), 1],
    // These responses end at once, before the system has taken them.
    [live.repeat(3), 2],
  ] as const) {
    const answers = await sendTls(port, ca, requests)
    t.match(answers, Array(count).fill({ status: 200 }))
  }
})

t.test('an https URL is served over TLS', async (t) => {
  const { port, token } = service
  for (const scheme of ['https', 'http']) {
    const [answer] = await sendTls(port, ca, head('GET', `${scheme}://localhost/tags`, token))
    t.match(answer, { status: 200, body: '[]' })
  }
})

t.test('what follows an unread response over TLS is not served', async (t) => {
  // The service waits so long for the client to close the connection.
  const { port, token, store, app } = await startTls(t, { responseTimeoutMs: 3000 })
  await createIn(store, { id: 1n, name: 'x'.repeat(2 ** 23) })
  for (const last of ['', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n']) {
    const socket = (await connectTls(port, ca)).pause()
    socket.write(head('GET', '/plants/1', token))
    const [, response] = (await once(app.server, 'request')) as [unknown, ServerResponse]
    while (!response.writableEnded) await new Promise(setImmediate)
    socket.write(head('DELETE', '/plants/1', token) + last)
    await once(app.server, 'request')
    const bytes = await readAll(socket.resume())
    t.equal(String(bytes).match(/HTTP\/1.1/g)?.length, 1)
    t.ok(bytes.length > 2 ** 23)
  }
  t.ok(await store.get(1n))
})

t.test('a client that disconnects after it has pipelined over TLS does no harm', async (t) => {
  const { port, token } = service
  const live = head('GET', '/health/live', token)
  const socket = (await connectTls(port, ca)).on('error', () => {})
  service.app.server.once('request', (request) => {
    service.app.server.once('request', () => request.socket.destroy())
  })
  socket.write(live.repeat(2))
  await readAll(socket)
  t.match(await sendTls(port, ca, live), [{ status: 200 }])
})

t.test('the service speaks TLS 1.2 and 1.3, and only HTTP/1.1', async (t) => {
  const { port } = service
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const options = { minVersion: version, maxVersion: version, ALPNProtocols: ['h2', 'http/1.1'] }
    const socket = await connectTls(port, ca, options)
    t.equal(socket.getProtocol(), version)
    t.equal(socket.alpnProtocol, 'http/1.1')
    socket.destroy()
  }
  const legacy = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' } as const
  await t.rejects(connectTls(port, ca, legacy), { code: /PROTOCOL_VERSION/ })
  await t.rejects(connectTls(port, ca, { ALPNProtocols: ['h2'] }), { code: /APPLICATION_PROTOCOL/ })
})

t.test('TLS 1.2 requires authenticated encryption', async (t) => {
  const { port } = service
  const maxVersion = 'TLSv1.2'
  for (const ciphers of ['ECDHE+AES+SHA1', 'ECDHE+AES+SHA256:!AEAD', 'kRSA']) {
    await t.rejects(connectTls(port, ca, { maxVersion, ciphers }), ciphers)
  }
  for (const ciphers of ['ECDHE+AESGCM', 'ECDHE+CHACHA20']) {
    const socket = await connectTls(port, ca, { maxVersion, ciphers })
    t.equal(socket.getProtocol(), maxVersion)
    socket.destroy()
  }
})

t.test('a client that does not speak TLS is disconnected without a response', async (t) => {
  const log: string[] = []
  const service = await startService(t, {
    config: files,
    logger: { level: 'debug', stream: { write: (line) => log.push(line) } },
  })
  let rejected = 0
  service.app.server.on('clientError', () => rejected++)
  for (const bytes of ['GET / HTTP/1.1\r\nHost: a\r\n\r\n', 'x'.repeat(1000)]) {
    const socket = connect(service.port, '127.0.0.1')
    socket.end(bytes)
    t.notMatch(`${await readAll(socket)}`, 'HTTP')
  }
  t.equal(rejected, 0, 'it does not count as a malformed request')
  const failed = log.filter((line) => line.includes('TLS handshake failed'))
  t.equal(failed.length, 2)
  for (const line of failed) t.match(JSON.parse(line), { level: 20, client: '127.0.0.1' })
  t.match(await sendTls(service.port, ca, head('GET', '/plants', service.token)), [{ status: 200 }])
})

t.test('bytes outside the TLS session end the connection', async (t) => {
  const raw = connect(service.port, '127.0.0.1')
  const socket = await connectTls(service.port, ca, { socket: raw })
  const gone = readAll(socket)
  raw.write('not encrypted')
  t.notMatch(`${await gone}`, 'HTTP')
  t.match(await sendTls(service.port, ca, head('GET', '/plants', service.token)), [{ status: 200 }])
})

t.test('a handshake can take as long as a request', async (t) => {
  const { port } = await startTls(t, { config: { requestTimeout: 100 } })
  const socket = connect(port, '127.0.0.1')
  await readAll(socket)
  t.ok(socket.closed)
})

async function startEmbedded(t: Test, options: PlantStoreOptions) {
  const store = await startPlantStore({ ...files, ...options })
  t.teardown(() => store.close())
  return { ...store, port: Number(new URL(store.url).port) }
}

t.test('shutdown lets a request in flight finish', async (t) => {
  const { port, token, close } = await startEmbedded(t, { shutdownTimeout: NEVER })
  const socket = await connectTls(port, ca)
  const answers = readAll(socket)
  const request = create(1, token)
  socket.write(request.replace('\r\n\r\n', '\r\nExpect: 100-continue\r\n\r\n').slice(0, -9))
  await once(socket, 'data')
  const closed = close()
  socket.write(request.slice(-9))
  t.match(`${await answers}`, /HTTP\/1\.1 200 OK\r\n(.+\r\n)*connection: close\r\n/i)
  await closed
})

t.test('shutdown does not wait for handshakes', async (t) => {
  const patience = { shutdownTimeout: NEVER, requestTimeout: NEVER }
  const { port, close } = await startEmbedded(t, patience)
  const socket = connect(port, '127.0.0.1')
  const gone = readAll(socket)
  await once(socket, 'connect')
  // Connections are accepted in order.
  await connectTls(port, ca)
  await close()
  await gone
})

t.test('the URL of an embedded service matches its certificate', async (t) => {
  const { url } = await startEmbedded(t, {})
  t.match(url, /^https:\/\/localhost:\d+$/)
  const address = issue({ name: 'plants', hosts: ['localhost', '127.0.0.1'], issuer: authority })
  t.match(
    (await startEmbedded(t, writeFiles(t.testdir(), address))).url,
    /^https:\/\/127\.0\.0\.1:/,
  )
})

t.test('unread docs responses take a bounded amount of memory', async (t) => {
  // Nobody loses memory to others, and the limit is that of one of eight threads.
  const service = await startTls(t, { clock: { monotonic: () => 0 }, threads: 8 })
  const { port } = service
  const bundle =
    'GET /documentation/static/swagger-ui-bundle.js HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const page = 'GET /documentation HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
  const last = bundle.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')
  const unread: TLSSocket[] = []
  for (let status = 200; status === 200; ) {
    t.ok(unread.length < 10, `${unread.length} clients have not read`)
    const socket = (await connectTls(port, ca)).pause()
    // The system takes the first responses.
    for (let isSent = true; isSent; ) {
      socket.write(bundle)
      const [, response] = (await once(service.app.server, 'request')) as [unknown, ServerResponse]
      await sendTls(port, ca, page)
      isSent = response.writableFinished
    }
    unread.push(socket)
    status = Number((await sendTls(port, ca, last))[0]?.status)
    if (status !== 200) t.equal(status, 503)
  }
  for (const socket of unread) socket.destroy()
  while ((await sendTls(port, ca, last))[0]?.status === 503);
  t.match(
    await sendTls(port, ca, page),
    [{ status: 200 }],
    'when they disconnect, the budget is free again',
  )
})

t.test('a certificate is not given to a server of plain HTTP', async (t) => {
  const paths = { certificate: files.tlsCertificate, key: files.tlsKey }
  const certificate = await readCertificate(paths, Buffer.alloc(32))
  t.throws(() => serveTls(fastify(), certificate, true), {
    message: 'the server does not use TLS',
  })
})

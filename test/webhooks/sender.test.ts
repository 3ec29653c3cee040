import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { type Event, newSecret, toMessage } from '../../src/webhooks/message.ts'
import { type DeliveryResult, Sender, type SenderOptions } from '../../src/webhooks/sender.ts'
import { issue } from '../helpers/network/certificates.ts'
import { AUTHORITY, startReceiver, status } from './receiver.ts'

const EVENT: Event = { name: 'newPlant', body: '{"id":1,"name":"Tännle"}' }
const SECRET = newSecret()
const NEVER = new AbortController().signal

function senderOf(t: Test, options: Partial<SenderOptions> = {}) {
  const sender = new Sender({ allowPrivate: true, ca: AUTHORITY, ...options })
  t.teardown(() => sender.close())
  return (url: string, signal = NEVER, event = EVENT): Promise<DeliveryResult> =>
    sender.send(url, toMessage('msg_1', event, { secret: SECRET }, Date.now()), signal)
}

function failed(reason: RegExp | string) {
  return { result: 'failed', reason, retryAfterMs: 0 }
}

for (const [code, result] of [
  [200, { result: 'received' }],
  [202, { result: 'received' }],
  [299, { result: 'received' }],
  [410, { result: 'gone' }],
  [301, failed('status 301: redirects are not followed')],
  [302, failed('status 302: redirects are not followed')],
  [304, failed('status 304: redirects are not followed')],
  [307, failed('status 307: redirects are not followed')],
  [400, failed('status 400')],
  [404, failed('status 404')],
  [500, failed('status 500')],
] as const) {
  t.test(`a delivery with the status ${code} is ${result.result}`, async (t) => {
    const target = await startReceiver(t)
    const respond = status(code, code < 400 ? { location: target.url } : {})
    const receiver = await startReceiver(t, { respond })
    t.match(await senderOf(t)(receiver.url), result)
    t.equal(receiver.received.length, 1)
    t.equal(target.received.length, 0, 'redirects are not followed')
  })
}

t.test('deliveries share a connection', async (t) => {
  const receiver = await startReceiver(t, {
    respond: (response) => response.writeHead(200).end('x'.repeat(10_000)),
  })
  const send = senderOf(t)
  for (let count = 0; count < 10; count++) t.match(await send(receiver.url), { result: 'received' })
  t.equal(receiver.connections, 1)
})

t.test('a connection that the receiver has closed meanwhile is replaced', async (t) => {
  const sockets: Socket[] = []
  const receiver = await startReceiver(t, {
    plain: true,
    respond: (response, index) => {
      const { socket } = response
      if (socket !== null) sockets.push(socket)
      // The second delivery arrives on a connection that is being closed.
      if (index === 1) socket?.destroy()
      else response.writeHead(204).end()
    },
  })
  const send = senderOf(t)
  t.match(await send(receiver.url), { result: 'received' })
  t.match(await send(receiver.url), { result: 'received' })
  t.equal(receiver.received.length, 3)
  t.equal(receiver.connections, 2)
})

t.test('a large or endless response does not matter', async (t) => {
  for (const [name, write] of [
    ['large', 2 ** 20],
    ['slow', 1],
  ] as const) {
    const receiver = await startReceiver(t, {
      respond: (response) => {
        response.writeHead(200)
        response.write('x'.repeat(write))
      },
    })
    t.match(await senderOf(t)(receiver.url), { result: 'received', status: 200 }, name)
  }
})

t.test('an attempt ends after its timeout', async (t) => {
  for (const plain of [true, false]) {
    const receiver = await startReceiver(t, { plain, respond: () => {} })
    const send = senderOf(t, { timeoutMs: 300 })
    t.match(await send(receiver.url), failed('no response within 0.3 seconds'))
  }
})

t.test('an attempt that is canceled ends at once', async (t) => {
  const controller = new AbortController()
  const receiver = await startReceiver(t, { respond: () => controller.abort() })
  const send = senderOf(t)
  t.match(await send(receiver.url, controller.signal), failed('the delivery was canceled'))
  t.match(await send(receiver.url, controller.signal), failed('the delivery was canceled'))
  t.equal(receiver.received.length, 1)
})

t.test('a certificate that is not verified is refused', async (t) => {
  const { url } = await startReceiver(t)
  const { cert: other } = issue({ name: 'other' })
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  t.teardown(() => {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
  })
  t.match(await senderOf(t, { ca: other })(url), failed(/^UNABLE_TO_VERIFY_LEAF_SIGNATURE/))
  t.match(await senderOf(t, { ca: undefined })(url), failed(/^UNABLE_TO_VERIFY/))
  const elsewhere = await startReceiver(t, { host: '127.0.0.2' })
  t.match(await senderOf(t)(elsewhere.url), failed(/^ERR_TLS_CERT_ALTNAME_INVALID: .*127\.0\.0\.2/))
  t.equal(elsewhere.received.length, 0)
})

t.test('connection failures have a reason in one line', async (t) => {
  const send = senderOf(t)
  t.match(await send('https://127.0.0.1:1'), failed('connect ECONNREFUSED 127.0.0.1:1'))
  t.match(await send('https://localhost:1'), failed(/ECONNREFUSED/))
  t.match(await send('not a URL'), failed(/^expected a URL/))
})

for (const [what, response] of [
  ['no response', ''],
  ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
  ['no HTTP', '\0\r\n\r\n'],
  ['an endless head', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`],
] as const) {
  t.test(`a receiver that sends ${what} fails`, async (t) => {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(response))
    })
    t.teardown(() => server.close())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const result = await senderOf(t)(`http://127.0.0.1:${port}`)
    t.match(result, failed(/^[\x20-\x7e]+$/))
  })
}

t.test('only public addresses are connected to', async (t) => {
  const receiver = await startReceiver(t)
  const plain = await startReceiver(t, { plain: true })
  const { port } = new URL(receiver.url)
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  const send = senderOf(t, { allowPrivate: false, resolve })
  const notPublic = failed(/^(receiver.example: )?127.0.0.1 is not a public address/)
  t.match(await send(`https://receiver.example:${port}`), notPublic)
  t.match(await send(receiver.url), notPublic)
  t.match(await send(plain.url), failed(/^webhooks require https/))
  t.equal(receiver.connections + plain.connections, 0)
})

t.test('a proxy in the environment is not used', async (t) => {
  const proxy = await startReceiver(t, { plain: true })
  const names = ['NODE_USE_ENV_PROXY', 'HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy']
  for (const name of names) process.env[name] = name.startsWith('NODE') ? '1' : proxy.url
  t.teardown(() => {
    for (const name of names) delete process.env[name]
  })
  for (const plain of [true, false]) {
    const receiver = await startReceiver(t, { plain })
    t.match(await senderOf(t)(receiver.url), { result: 'received' })
  }
  t.equal(proxy.connections, 0)
})

/**
 * What the server relies on in Node beyond its documentation. A test that fails after an upgrade of Node names the files
 * in src/http/sockets/ to change.
 */
import { once } from 'node:events'
import { createServer, type RequestListener, type Server, ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect, createServer as createListener, type Socket } from 'node:net'
import t, { type Test } from 'tap'

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
const LAST_GET = GET.replace('Host', 'Connection: close\r\nHost')

/** Starts a server and connects to it. */
async function open(t: Test, listener: RequestListener, options = {}) {
  const server = createServer(options, listener)
  Object.assign(server, { httpAllowHalfOpen: true })
  return { server, client: await connectTo(t, server) }
}

async function connectTo(t: Test, server: Pick<Server, 'listen' | 'close' | 'address' | 'on'>) {
  server.listen(0, '127.0.0.1')
  await once(server as Server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  t.teardown(() => {
    client.destroy()
    server.close()
  })
  return client
}

/** Resolves to all bytes that a client receives. */
async function received(client: Socket): Promise<string> {
  let text = ''
  for await (const chunk of client.setEncoding('latin1')) text += chunk
  return text
}

/** Internal properties of a connection. */
interface Internals {
  readonly parser: { readonly onIncoming: unknown; readonly incoming: unknown }
  readonly _handle: { readonly writeQueueSize: unknown }
}

t.test('a connection has a parser and the length of its write queue', async (t) => {
  const usedBy = 'one-request.ts (nodejs/node#50850), connection-timeouts.ts (nodejs/node#44157)'
  const { client } = await open(t, ({ socket }, response) => {
    const { parser, _handle } = socket as unknown as Internals
    t.type(parser.onIncoming, 'function', usedBy)
    t.ok('incoming' in parser, usedBy)
    t.type(_handle.writeQueueSize, 'number', usedBy)
    response.end()
  })
  client.write(LAST_GET)
  t.match(await received(client), /^HTTP\/1.1 200 /)
})

t.test('after the last response of a connection, destroySoon() is called', async (t) => {
  const usedBy = 'one-request.ts, socket-errors.ts (nodejs/node#12339)'
  const calls: string[] = []
  const { client } = await open(t, ({ socket }, response) => {
    const { destroySoon } = socket
    socket.destroySoon = () => {
      calls.push('destroySoon')
      destroySoon.call(socket)
    }
    response.prependOnceListener('finish', () => calls.push('finish'))
    response.end()
  })
  client.write(LAST_GET)
  await received(client)
  t.same(calls, ['finish', 'destroySoon'], usedBy)
})

t.test('a listener for the data of a connection can replace the parser', async (t) => {
  const usedBy = 'one-request.ts (nodejs/node#50850)'
  let requests = 0
  const { client } = await open(t, ({ socket }, response) => {
    requests++
    socket.removeAllListeners('data').on('data', (data) => socket.end(`unparsed ${data.length}`))
    response.end()
  })
  client.write(GET)
  await once(client, 'data')
  client.write(GET)
  t.match(await received(client), `unparsed ${GET.length}`, usedBy)
  t.equal(requests, 1, usedBy)
})

t.test('the chunks of a body arrive through push() of the request', async (t) => {
  const usedBy = 'client-errors.ts'
  const chunks: string[] = []
  const { client } = await open(t, (request, response) => {
    const { push } = request
    request.push = (chunk, ...rest) => {
      chunks.push(String(chunk))
      return push.call(request, chunk, ...rest)
    }
    request.resume().on('end', () => response.end())
  })
  client.write(
    'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n' +
      '1\r\na\r\n1\r\nb\r\n0\r\n\r\n',
  )
  await received(client)
  t.same(chunks, ['a', 'b', 'null'], usedBy)
})

t.test('a client that has ended its side gets its response with httpAllowHalfOpen', async (t) => {
  const usedBy = 'server.ts (nodejs/node#36819)'
  const { client } = await open(t, (request, response) => {
    request.socket.once('end', () => response.end('late'))
  })
  client.end(GET)
  t.match(await received(client), 'late', usedBy)
})

t.test('maxConnections is read for each connection, and the excess is dropped', async (t) => {
  const usedBy = 'connection-limit.ts, listener.ts'
  const { server, client } = await open(t, (_request, response) => void response.end())
  client.write(GET)
  await once(client, 'data')
  Object.defineProperty(server, 'maxConnections', { get: () => 0 })
  const { port } = server.address() as AddressInfo
  const dropped = once(server, 'drop')
  const refused = connect(port, '127.0.0.1')
  refused.on('error', () => {})
  await dropped
  refused.destroy()
  t.pass(usedBy)
})

t.test('a server serves a connection that another listener has accepted', async (t) => {
  const usedBy = 'listener.ts (fastify/fastify#7043)'
  const server = createServer((_request, response) => void response.end('served'))
  const listener = createListener({ allowHalfOpen: true }, (connection) => {
    server.emit('connection', connection)
  })
  const client = await connectTo(t, listener as Server)
  client.write(LAST_GET)
  t.match(await received(client), 'served', usedBy)
})

t.test('a response knows whether its connection is kept', async (t) => {
  const usedBy = 'one-request.ts, ../following/followers.ts, ../responses/error-handler.ts'
  const empty = new ServerResponse({ method: 'GET' } as never)
  t.equal(empty.shouldKeepAlive, true, usedBy)
  const { client } = await open(t, (_request, response) => {
    response.shouldKeepAlive = false
    response.end()
  })
  client.write(GET)
  t.match(await received(client), /\r\nConnection: close\r\n/i, usedBy)
})

t.test(
  'Node handles expectations and failed TLS handshakes with listeners of its own',
  async (t) => {
    const usedBy = 'server.ts, tls.ts'
    t.equal(createSecureServer().listenerCount('tlsClientError'), 1, usedBy)
    const { server, client } = await open(t, () => t.fail(usedBy))
    server.on('checkContinue', (_request, response) => response.end('expected'))
    client.write('POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\n\r\n')
    t.match(await received(client), 'expected', usedBy)
  },
)

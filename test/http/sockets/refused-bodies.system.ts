/** Responses to bodies that are refused before they have arrived, on connections that close afterwards. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { issue, writeFiles } from '../../helpers/network/certificates.ts'
import { openConnection } from '../../helpers/network/connection.ts'
import { connectTls } from '../../helpers/network/tls-client.ts'
import { type Answer, checkAnswer } from '../../helpers/service/contract-check.ts'
import { answersOf, readAll, type Service, startService } from '../../helpers/service/service.ts'
import { closed } from '../../helpers/service/threads.ts'

const LENGTH = 3_000_000

const TIMES = 20

let service: Service
t.before(async () => {
  service = await startService(t)
})

interface Refused {
  readonly version?: string
  readonly headers: readonly string[]
  readonly token?: string
  /** Sent again and again. */
  readonly part?: Buffer
}

/** The head of a create. */
function headOf({ version = '1.1', headers, token = service.token }: Refused): string {
  const lines = [
    `POST /plants HTTP/${version}`,
    'Host: x',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    ...headers,
  ]
  return [...lines, '', ''].join('\r\n')
}

/** Sends a whole request and only then reads the responses, like many clients. */
async function sendFirst(
  socket: Socket,
  { part = Buffer.alloc(30_000, ' '), ...refused }: Refused,
): Promise<Answer[]> {
  const bytes = readAll(socket.pause())
  socket.write(headOf(refused))
  for (let sent = 0; sent < LENGTH && socket.writable; sent += part.length) {
    await new Promise((resolve) => socket.write(part, resolve))
    // The service can respond, and close the connection.
    await new Promise(setImmediate)
  }
  socket.resume()
  const answers = answersOf(await bytes)
  for (const answer of answers) checkAnswer('POST', '/plants', answer)
  return answers
}

const length = `Content-Length: ${LENGTH}`
const close = 'Connection: close'
const chunked = 'Transfer-Encoding: chunked'

const cases: Record<string, Refused & { readonly status: number }> = {
  'too large, with Connection: close': { status: 413, headers: [length, close] },
  'too large, over HTTP/1.0': { status: 413, version: '1.0', headers: [length] },
  'too large, in chunks': {
    status: 413,
    headers: [chunked, close],
    part: Buffer.from(`7530\r\n${' '.repeat(30_000)}\r\n`),
  },
  'without a valid token': { status: 401, token: 'x', headers: [length, close] },
  'in chunks that are too small': {
    status: 400,
    headers: [chunked],
    part: Buffer.from('1\r\n \r\n'.repeat(5000)),
  },
  'in malformed chunks': {
    status: 400,
    headers: [chunked],
    part: Buffer.alloc(30_000, 'x'),
  },
}

for (const [what, { status, ...refused }] of Object.entries(cases)) {
  t.test(`a client that sends all of a body first gets the response: ${what}`, async (t) => {
    for (let time = 0; time < TIMES; time++) {
      const answers = await sendFirst(openConnection(t, service), refused)
      t.match(answers, [{ status, headers: { connection: 'close' } }], `${time}`)
    }
  })
}

t.test('a client that sends all of a body first gets the response over TLS', async (t) => {
  const authority = issue({ name: 'authority' })
  const pair = issue({ name: 'plants', hosts: ['localhost'], issuer: authority })
  const { port, token } = await startService(t, { config: writeFiles(t.testdir(), pair) })
  for (let time = 0; time < 5; time++) {
    const socket = await connectTls(port, authority.cert)
    const answers = await sendFirst(socket, { token, headers: [length, close] })
    t.match(answers, [{ status: 413, headers: { connection: 'close' } }], `${time}`)
  }
})

/** Sends the start of a body that is too large, and returns both ends of its connection. */
async function startBody(t: Test, instead: Service): Promise<Record<'client' | 'server', Socket>> {
  const accepted = once(instead.app.server, 'connection')
  const client = connect({ port: instead.port, host: '127.0.0.1', allowHalfOpen: true })
  client.on('error', () => {})
  t.teardown(() => client.destroy())
  const headers = ['Content-Length: 1000000000', close]
  client.write(headOf({ token: instead.token, headers }))
  const [server] = (await accepted) as [Socket]
  return { client, server }
}

t.test(
  'a client that does not stop sending is disconnected after the request timeout',
  async (t) => {
    const instead = await startService(t, { config: { requestTimeout: 200 } })
    const { client, server } = await startBody(t, instead)
    const answered = readAll(client)
    const drip = setInterval(() => client.write(' '), 20)
    await closed(server)
    clearInterval(drip)
    client.end()
    t.match(answersOf(await answered), [{ status: 413 }])
  },
)

t.test('no more than 32 MiB of a refused body are discarded', async (t) => {
  const max = 2 ** 25
  const { client, server } = await startBody(t, service)
  client.write(Buffer.alloc(2 * max))
  while (server.bytesRead < max) await once(server, 'pause')
  t.ok(server.bytesRead < max + 2 ** 20, `${server.bytesRead} bytes were read`)
  const [bytes] = await once(client, 'data')
  t.match(answersOf(bytes), [{ status: 413 }])
})

/** The client decides whether a connection stays open after a failure (RFC 9112 §9.3). */
import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { answersOf, readAll, type Service, startService } from '../../helpers/service/service.ts'

const BODY_LIMIT = 100

let service: Service
t.before(async () => {
  service = await startService(t, { config: { bodyLimit: BODY_LIMIT } })
})

const LARGE = 'x'.repeat(BODY_LIMIT + 1)
const CHUNKED = 'Transfer-Encoding: chunked\r\n'

const FAILURES: [what: string, error: number, header: string, body: string][] = [
  ['a body that is not JSON', 40001, 'Content-Length: 1\r\n', '{'],
  ['a body that violates the contract', 40002, 'Content-Length: 2\r\n', '{}'],
  ['a body over the limit', 41301, `Content-Length: ${LARGE.length}\r\n`, LARGE],
  [
    'chunks over the limit',
    41301,
    CHUNKED,
    `${LARGE.length.toString(16)}\r\n${LARGE}\r\n0\r\n\r\n`,
  ],
]

const REQUESTED: [version: string, requested: string, connection: 'close' | 'keep-alive'][] = [
  ['1.1', '', 'keep-alive'],
  ['1.1', 'keep-alive', 'keep-alive'],
  ['1.1', 'close', 'close'],
  ['1.1', 'Close', 'close'],
  ['1.1', 'keep-alive, close', 'close'],
  ['1.0', '', 'close'],
  ['1.0', 'close', 'close'],
  ['1.0', 'keep-alive', 'keep-alive'],
]

for (const [what, error, header, body] of FAILURES) {
  for (const [version, requested, connection] of REQUESTED) {
    // HTTP/1.0 has no chunks (RFC 9112 §6.1).
    if (version === '1.0' && header === CHUNKED) continue
    t.test(
      `after ${what}, HTTP/${version} with Connection "${requested}" means ${connection}`,
      async (t) => {
        const request = (more: string) =>
          `POST /plants HTTP/${version}\r\nHost: x\r\nAuthorization: Bearer ${service.token}\r\n${more}`
        const headers = `Content-Type: application/json\r\n${header}`
        const socket = connect(service.port, '127.0.0.1')
        const bytes = readAll(socket)
        socket.write(request(`${headers}${requested && `Connection: ${requested}\r\n`}\r\n${body}`))
        if (connection === 'keep-alive') {
          await once(socket, 'data')
          socket.write(request('Connection: close\r\nContent-Length: 0\r\n\r\n'))
        }
        const answers = answersOf(await bytes)
        t.match(answers[0], { headers: { connection }, body: new RegExp(`"error":${error}`) })
        t.equal(answers.length, connection === 'close' ? 1 : 2)
      },
    )
  }
}

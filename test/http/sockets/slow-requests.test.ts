/** Requests that arrive slowly time out. */
import { connect } from 'node:net'
import t from 'tap'
import { checkAnswer } from '../../helpers/service/contract-check.ts'
import { answersOf, readAll, type Service, startService } from '../../helpers/service/service.ts'

function headFor({ token }: Service): string {
  return `POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n`
}

t.test(
  'a request that does not arrive in time gets 408, and its connection is closed',
  async (t) => {
    const service = await startService(t, { config: { requestTimeout: 400 } })
    const head = headFor(service)
    const json = `${head}Content-Type: application/json\r\n`
    const slow = [
      { what: 'a request line', bytes: 'POST /pla' },
      { what: 'headers', bytes: head },
      { what: 'a body', bytes: `${json}Content-Length: 30\r\n\r\n{"id"` },
      { what: 'a chunked body', bytes: `${json}Transfer-Encoding: chunked\r\n\r\n5\r\n{"id"\r\n` },
    ]
    const cases = slow.map(async ({ what, bytes }) => {
      const socket = connect(service.port, '127.0.0.1')
      socket.write(bytes)
      // Resolves when the service has closed the connection.
      const answers = answersOf(await readAll(socket))
      t.match(answers, [{ status: 408, headers: { connection: 'close' } }], what)
      for (const answer of answers) checkAnswer('POST', '/plants', answer)
      t.match(answers[0]?.body, 'within 0.4 s')
    })
    await Promise.all(cases)
  },
)

import { connect } from 'node:net'
import t from 'tap'
import { Command } from '../helpers/command.ts'
import { checkAnswer } from '../helpers/contract-check.ts'
import { answersOf, readAll } from '../helpers/service.ts'

const TOKEN = 'a-token-of-the-environment'
const HEAD = `POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\n`
const JSON_HEAD = `${HEAD}Content-Type: application/json\r\n`

const slow = [
  { what: 'a request line', bytes: 'POST /pla' },
  { what: 'headers', bytes: HEAD },
  { what: 'a body', bytes: `${JSON_HEAD}Content-Length: 30\r\n\r\n{"id"` },
  { what: 'a chunked body', bytes: `${JSON_HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\n{"id"\r\n` },
]

t.test('what does not arrive in time is answered 408 and cut off', async (t) => {
  const args = ['--port', '0', '--database', ':memory:', '--request-timeout', '400ms']
  const command = new Command(t, args, {
    measured: false,
    env: { PLANT_STORE_TOKEN: TOKEN },
    cwd: t.testdir(),
  })
  const port = Number(new URL(await command.listening()).port)
  const cases = slow.map(async ({ what, bytes }) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(bytes)
    // Ends when the service has closed the connection.
    const answers = answersOf(await readAll(socket))
    t.match(answers, [{ status: 408, headers: { connection: 'close' } }], what)
    for (const answer of answers) checkAnswer('POST', '/plants', answer)
    t.match(answers[0]?.body, 'within 0.4 s')
  })
  await Promise.all(cases)
})

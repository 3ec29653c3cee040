/** Requests that arrive slowly time out, and do not delay others. */
import { connect } from 'node:net'
import t from 'tap'
import { checkAnswer } from '../../helpers/contract-check.ts'
import { answersOf, readAll, type Service, startService } from '../../helpers/service.ts'
import { ask, formatRequest, openLine } from '../../helpers/threads.ts'

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

const SLOW = 400

t.test(
  '400 connections that send a byte at a time are closed, while others are served',
  async (t) => {
    const service = await startService(t, { config: { requestTimeout: 400 } })
    // A request of a new connection could time out before a stalled machine reads it.
    const other = await openLine(t, { port: service.port })
    const head = headFor(service)
    const starts = [
      'P',
      head,
      `${head}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
      `${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n{`,
    ]
    let open = SLOW
    const gone = Array.from({ length: SLOW }, async (_, index) => {
      const socket = connect(service.port, '127.0.0.1').on('error', () => {})
      socket.resume().write(starts[index % starts.length] as string)
      const drip = setInterval(() => socket.write(' '), 100)
      // Not `once` of node:events, which rejects if a byte comes after the service has closed the connection.
      await new Promise((resolve) => socket.once('close', resolve))
      clearInterval(drip)
      open--
    })
    const statuses = new Set<number>()
    for (let id = 0; open > 0; id++) {
      const create = formatRequest(service.token, 'POST /plants', `{"id":${id},"name":"x"}`)
      statuses.add((await ask(other.socket, create)).status)
    }
    await Promise.all(gone)
    t.same([...statuses], [200])
  },
)

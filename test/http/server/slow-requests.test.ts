/** Requests that arrive slowly time out, and do not delay others. */
import { connect } from 'node:net'
import t from 'tap'
import { type Answer, checkAnswer } from '../../helpers/contract-check.ts'
import { answersOf, readAll, type Service, startService } from '../../helpers/service.ts'

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
  '400 connections that send a byte at a time are closed within 30 s, while others are served',
  async (t) => {
    const service = await startService(t)
    const head = headFor(service)
    const starts = [
      'P',
      head,
      `${head}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
      `${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n{`,
    ]
    const begun = performance.now()
    const gone = Array.from({ length: SLOW }, async (_, index) => {
      const socket = connect(service.port, '127.0.0.1').on('error', () => {})
      socket.resume().write(starts[index % starts.length] as string)
      const drip = setInterval(() => socket.write(' '), 2000)
      // Not `once` of node:events, which rejects if a byte comes after the service has closed the connection.
      await new Promise((resolve) => socket.once('close', resolve))
      clearInterval(drip)
      return performance.now() - begun
    })
    const served: Promise<Answer>[] = []
    const create = setInterval(() => {
      served.push(service.call({ body: { id: served.length, name: 'Abies alba Mill.' } }))
    }, 250)
    const longest = Math.max(...(await Promise.all(gone)))
    clearInterval(create)
    const answers = await Promise.all(served)
    t.ok(answers.length > 10, `${answers.length} creates were sent meanwhile`)
    t.ok(answers.every(({ status }) => status === 200))
    t.ok(longest < 30_000, `the last one was closed after ${longest} ms`)
  },
)

/** Sign-in with four HTTP threads. */
import t from 'tap'
import { startIssuer } from '../helpers/network/issuer.ts'
import { until } from '../helpers/processes/until.ts'
import { ask, formatRequest, openLines, startThreads, THREADS } from '../helpers/service/threads.ts'

t.test(
  'all threads accept the tokens of an issuer, and share what they read from it',
  async (t) => {
    const issuer = await startIssuer(t)
    const service = await startThreads(t, { ...issuer.config })
    const lines = await openLines(t, service)
    const statuses = async (token: string) => {
      const request = formatRequest(token, 'GET /plants')
      const answers = await Promise.all(lines.map(({ socket }) => ask(socket, request)))
      return answers.map(({ status }) => status)
    }
    const earlier = await issuer.token()
    t.strictSame(await statuses(earlier), Array(THREADS).fill(200))
    // More than one if it takes long.
    t.ok(issuer.reads < THREADS, `${issuer.reads} reads`)
    const { reads } = issuer
    await issuer.rotate()
    const later = await issuer.token()
    await until('all threads have the new key', async () =>
      (await statuses(later)).every((status) => status === 200),
    )
    t.ok(issuer.reads - reads < THREADS, `${issuer.reads - reads} reads`)
    // The keys were read a moment ago.
    t.strictSame(await statuses(earlier), Array(THREADS).fill(503))
  },
)

t.test('threads start without their issuer', async (t) => {
  const issuer = await startIssuer(t)
  issuer.fault = (_request, response) => response.writeHead(500).end() !== undefined
  const service = await startThreads(t, { ...issuer.config })
  const lines = await openLines(t, service)
  const token = await issuer.sign()
  for (const { socket } of lines) {
    t.equal((await ask(socket, formatRequest(token, 'GET /plants'))).status, 503)
    t.equal((await ask(socket, formatRequest(service.token, 'GET /plants'))).status, 200)
  }
})

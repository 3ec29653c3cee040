/** Every HTTP thread adds the CORS headers. */
import t from 'tap'
import { APP, formatHeaders, PREFLIGHT, STRANGER } from '../helpers/cors.ts'
import { ask, formatRequest, openLines, startThreads } from '../helpers/threads.ts'

t.test('every thread allows the origins of --cors-origin', async (t) => {
  const service = await startThreads(t, { corsOrigin: [APP] })
  const head = (line: string, headers: Record<string, string>) =>
    `${line} HTTP/1.1\r\nHost: x\r\n${formatHeaders(headers)}`
  const chunked = {
    origin: APP,
    'content-type': 'application/json',
    'transfer-encoding': 'chunked',
  }
  const malformed = `${head('POST /plants', chunked)}Authorization: Bearer ${service.token}\r\n\r\nxyz\r\n`
  for (const { socket } of await openLines(t, service)) {
    const permission = await ask(socket, `${head('OPTIONS /plants', PREFLIGHT)}\r\n`)
    t.match(permission, { status: 204, headers: { 'access-control-allow-origin': APP } })
    const refused = await ask(socket, `${head('GET /plants', { origin: STRANGER })}\r\n`)
    t.equal(refused.status, 401)
    t.equal(refused.headers['access-control-allow-origin'], undefined)
    const read = formatRequest(service.token, 'GET /plants').replace(
      'Host: x',
      `Host: x\r\nOrigin: ${APP}`,
    )
    t.match(await ask(socket, read), {
      status: 200,
      headers: { 'access-control-allow-origin': APP },
    })
    const rejected = await ask(socket, malformed)
    t.match(rejected, { status: 400, headers: { 'access-control-allow-origin': APP } })
  }
})

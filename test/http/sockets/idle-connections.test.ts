/** Connections that stay open after a response. */
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { formatHead, openConnection } from '../../helpers/network/connection.ts'
import { answersOf, startService } from '../../helpers/service/service.ts'

/** How long a connection can be idle, and then how long a request can take to arrive. */
const [KEEP_ALIVE_MS, REQUEST_MS] = [200, 200]

t.test('empty lines do not keep a connection open', async (t) => {
  const { connection, request } = await connect(t)
  connection.write(request)
  const [response] = await once(connection, 'data')
  t.match(answersOf(response), [{ status: 200 }])
  const drip = setInterval(() => connection.write('\r\n'), KEEP_ALIVE_MS / 4)
  t.teardown(() => clearInterval(drip))
  // The server resets the connection if it has not read the last lines.
  await new Promise((resolve) => connection.resume().once('close', resolve))
})

t.test('requests keep a connection open', async (t) => {
  const { connection, request } = await connect(t)
  const opened = Date.now()
  let sent = opened
  connection.on('data', (response: Buffer) => {
    for (const { status } of answersOf(response)) t.equal(status, 200)
    if (Date.now() - opened > 2 * (KEEP_ALIVE_MS + REQUEST_MS)) connection.destroy()
    else setTimeout(send, KEEP_ALIVE_MS / 20)
  })
  function send(): void {
    sent = Date.now()
    connection.write(`\r\n${request}`)
  }
  send()
  await new Promise((resolve) => connection.once('close', resolve))
  const isDone = Date.now() - opened > 2 * (KEEP_ALIVE_MS + REQUEST_MS)
  // The server can also close the connection after a pause of this process.
  t.ok(isDone || Date.now() - sent > KEEP_ALIVE_MS / 2)
})

async function connect(t: Test) {
  const config = { requestTimeout: REQUEST_MS, keepAliveTimeout: KEEP_ALIVE_MS }
  const service = await startService(t, { config })
  return { connection: openConnection(t, service), request: formatHead(service, 'GET /plants') }
}

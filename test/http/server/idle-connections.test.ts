/** Connections that stay open after a response. */
import { once } from 'node:events'
import t from 'tap'
import { formatHead, openConnection } from '../../helpers/connection.ts'
import { answersOf, startService } from '../../helpers/service.ts'

/** How long a connection can be idle, and then how long a request can take to arrive. */
const [KEEP_ALIVE_MS, REQUEST_MS] = [200, 200]

t.test('requests keep a connection open, and empty lines do not', async (t) => {
  const config = { requestTimeout: REQUEST_MS, keepAliveTimeout: KEEP_ALIVE_MS }
  const service = await startService(t, { config })
  const request = formatHead(service, 'GET /plants')
  const [busy, dripping] = [openConnection(t, service), openConnection(t, service)]
  const statuses: number[] = []
  busy.on('data', (response: Buffer) => {
    for (const { status } of answersOf(response)) statuses.push(status)
    setTimeout(() => busy.write(`\r\n${request}`), KEEP_ALIVE_MS / 20)
  })
  busy.write(request)
  dripping.write(request)
  const [response] = await once(dripping, 'data')
  t.match(answersOf(response), [{ status: 200 }])
  const drip = setInterval(() => dripping.write('\r\n'), KEEP_ALIVE_MS / 4)
  t.teardown(() => clearInterval(drip))
  await once(dripping.resume(), 'close')
  t.notOk(busy.closed)
  t.ok(statuses.length > 1, 'while the other connection was closed')
  t.same(new Set(statuses), new Set([200]))
})

/** Connections that stay open after a response. */
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { formatHead, openConnection } from '../../helpers/connection.ts'
import { answersOf, type Service, startService } from '../../helpers/service.ts'

/** How long a connection can be idle, and then how long a request can take to arrive. */
const [KEEP_ALIVE_MS, REQUEST_MS] = [200, 200]

function start(t: Test): Promise<Service> {
  const config = { requestTimeout: REQUEST_MS, keepAliveTimeout: KEEP_ALIVE_MS }
  return startService(t, { config })
}

t.test('empty lines after a response do not keep a connection open', async (t) => {
  const service = await start(t)
  const socket = openConnection(t, service)
  socket.write(formatHead(service, 'GET /plants'))
  const [response] = await once(socket, 'data')
  t.match(answersOf(response), [{ status: 200 }])
  const drip = setInterval(() => socket.write('\r\n'), KEEP_ALIVE_MS / 4)
  t.teardown(() => clearInterval(drip))
  socket.resume()
  await new Promise((resolve) => socket.once('close', resolve))
  t.pass('the connection is closed')
})

t.test('a connection that sends requests stays open', async (t) => {
  const service = await start(t)
  const socket = openConnection(t, service)
  const silent = openConnection(t, service).resume()
  silent.write(`${formatHead(service, 'GET /plants')}\r\n`)
  let isSilentOpen = true
  silent.once('close', () => {
    isSilentOpen = false
  })
  const statuses = new Set<number>()
  let served = 0
  for (; isSilentOpen; served++) {
    socket.write(`\r\n${formatHead(service, 'GET /plants')}`)
    const [response] = await once(socket, 'data')
    for (const { status } of answersOf(response)) statuses.add(status)
  }
  t.same([...statuses], [200])
  t.ok(served > 1, 'while another connection was closed')
})

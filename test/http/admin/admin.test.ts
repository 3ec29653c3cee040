/** The admin port of a whole service: embedded, or started from the command line. */

import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { restrict } from '../../../service/restriction.ts'
import { prepareAdmin } from '../../../src/http/admin/admin.ts'
import { type PlantStoreOptions, startPlantStore } from '../../../src/index.ts'
import { openStore } from '../../../src/stores/engines.ts'
import { inMemory, makeFolder } from '../../../tools/tap/temporary-folders.ts'
import { isFree } from '../../helpers/network/connection.ts'
import { runHere } from '../../helpers/processes/command-here.ts'
import { halfACreate } from '../../helpers/service/client.ts'
import { BEGUN, CONSISTENT, makeMirror } from '../../helpers/service/mirrors.ts'

/** Starts a service with an admin port that is closed after the test. */
async function start(t: Test, options: PlantStoreOptions = {}) {
  const running = await startPlantStore({ adminPort: 0, ...options })
  t.teardown(running.close)
  return { ...running, adminUrl: String(running.adminUrl) }
}

/** A service of several tests, the last of which closes it. */
let running: Awaited<ReturnType<typeof start>>
let database: string
t.before(async () => {
  database = join(makeFolder(t, inMemory()), 'plants.db')
  running = await start(t, { database })
})

t.test('health checks are served on the admin port', async (t) => {
  const { adminUrl, url, token } = running
  t.match(adminUrl, /^http:\/\/127\.0\.0\.1:\d+$/)
  t.not(adminUrl, url)
  for (const state of ['live', 'ready']) {
    const response = await fetch(`${adminUrl}/health/${state}`)
    t.equal(response.status, 200)
    t.equal(response.headers.get('content-type'), 'application/json')
    t.same(await response.json(), { status: state })
  }
  t.equal((await fetch(`${adminUrl}/plants`)).status, 404)
  const headers = { authorization: `Bearer ${token}` }
  t.equal((await fetch(`${url}/metrics`, { headers })).status, 404, 'not on the public port')
})

const noIpv6 = (await isFree('::1')) ? false : '::1 is unavailable on this machine'

t.test('the admin port can have an IPv6 address', { skip: noIpv6 }, async (t) => {
  const { adminUrl } = await start(t, { adminPort: '[::1]:0' })
  t.equal(new URL(adminUrl).hostname, '[::1]')
  t.equal((await fetch(`${adminUrl}/health/live`)).status, 200)
})

t.test('a mirror is ready on both ports once it is consistent', async (t) => {
  const { url, adminUrl } = running
  const store = await openStore({ database, lockTimeout: 30_000, sameThread: true })
  t.teardown(() => store.close())
  const statuses = () =>
    Promise.all([url, adminUrl].map(async (each) => (await fetch(`${each}/health/ready`)).status))
  await makeMirror(store, BEGUN)
  t.same(await statuses(), [503, 503])
  await restrict(store, { expected: BEGUN, next: CONSISTENT })
  t.same(await statuses(), [200, 200])
  await restrict(store, { expected: CONSISTENT, next: undefined })
})

t.test(
  'while the service stops, it is live but not ready, and waits for no admin connection',
  async (t) => {
    const { url, token, adminUrl, close } = running
    const { port, hostname } = new URL(adminUrl)
    const idle = connect(Number(port), hostname)
    t.teardown(() => idle.destroy())
    await once(idle, 'connect')
    const cut = once(idle.resume(), 'close')
    const { socket, answers, rest } = await halfACreate(url, token, { id: 1, name: 'a' })
    const closed = close()
    t.equal((await fetch(`${adminUrl}/health/ready`)).status, 503)
    t.equal((await fetch(`${adminUrl}/health/live`)).status, 200)
    socket.write(rest)
    await answers
    await closed
    await cut
    await t.rejects(fetch(`${adminUrl}/health/live`), { cause: { code: 'ECONNREFUSED' } })
  },
)

t.test('the service accepts no connections if the admin port is occupied', async (t) => {
  const occupant = createServer().listen(0, '127.0.0.1')
  t.teardown(() => occupant.close())
  await once(occupant, 'listening')
  const { port } = occupant.address() as { port: number }
  const args = ['--database', ':memory:', '--port=0', '--log-level=silent']
  const { code, stderr } = await runHere([...args, `--admin-port=${port}`])
  t.equal(code, 1)
  t.equal(
    stderr,
    `plant-store: cannot listen at --admin-port 127.0.0.1:${port}: address already in use\n`,
  )
})

t.test('the two ports can have one number on different addresses', async (t) => {
  const { url, adminUrl: none, close } = await startPlantStore()
  t.equal(none, undefined, 'without the setting there is no admin port')
  await close()
  const port = Number(new URL(url).port)
  const { adminUrl } = await start(t, { host: '127.0.0.1', port, adminPort: `127.0.0.2:${port}` })
  t.equal((await fetch(`${adminUrl}/health/ready`)).status, 200)
})

t.test('until the service listens, it is live but not ready', async (t) => {
  const admin = prepareAdmin({
    address: { host: '127.0.0.1', port: 0 },
    log: pino({ level: 'silent' }),
    checkReady: async () => {},
    engine: 'sqlite',
    threads: 1,
    readThreads: async () => [],
    readStore: async () => [],
    readWebhooks: () => [],
  })
  const { port } = await admin.listen()
  t.teardown(() => admin.close())
  const statusOf = async (state: string) =>
    (await fetch(`http://127.0.0.1:${port}/health/${state}`)).status
  t.equal(await statusOf('live'), 200)
  t.equal(await statusOf('ready'), 503)
  admin.setAccepting(true)
  t.equal(await statusOf('ready'), 200)
})

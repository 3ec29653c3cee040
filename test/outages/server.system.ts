import t, { type Test } from 'tap'
import { startPostgres } from '../../tools/postgres/postgres-server.ts'
import type { Answer } from '../helpers/service/contract-check.ts'
import { type Service, startOn, startService } from '../helpers/service/service.ts'

const { server, emptyDatabase } = await startPostgres(t)

startOn(t, async () => {
  const database = await emptyDatabase()
  return { database, query: (sql) => server.query(sql, nameOf(database)) }
})

/** Timeout of the store for a suspended server, in milliseconds. */
const LOCK_TIMEOUT_MS = 2000

/** A request waits for the server twice, for its token and for its own work. The rest is for a busy machine. */
const RESPONSE_MS_MAX = 20 * LOCK_TIMEOUT_MS

function nameOf(database: string): string {
  return new URL(database).pathname.slice(1)
}

async function create(service: Service, id: number): Promise<Answer> {
  return service.call({ body: { id, name: 'x' } })
}

function assertUnavailable(t: Test, { status, headers }: Answer): void {
  t.equal(status, 503)
  t.equal(headers['retry-after'], '5')
}

t.test('requests get 503 while the server is stopped', async (t) => {
  const service = await startService(t)
  t.equal((await create(service, 1)).status, 200)
  await server.stop()
  assertUnavailable(t, await create(service, 2))
  assertUnavailable(t, await service.call({ method: 'GET', path: '/health/ready', token: null }))
  await server.start()
  t.equal((await create(service, 2)).status, 200)
})

t.test('a suspended server delays responses no longer than the timeout', async (t) => {
  // Otherwise every request would already wait for the lookup of its token.
  const token = 'a-token-that-needs-no-server'
  const service = await startService(t, { config: { lockTimeout: LOCK_TIMEOUT_MS, token } })
  const call = (method: string, path: string, body?: object) =>
    service.call({ method, path, token, ...(body !== undefined && { body }) })
  t.equal((await create(service, 1)).status, 200)
  server.freeze()
  t.teardown(() => server.thaw())
  const from = performance.now()
  let answered = 0
  const answers = [
    ...Array.from({ length: 20 }, (_, index) => [
      call('POST', '/plants', { id: 2 + index, name: 'x' }),
      call('PATCH', '/plants/1', { name: `${index}` }),
      call('GET', '/plants/1'),
    ]).flat(),
    call('DELETE', '/plants/1'),
    call('GET', '/plants'),
    create(service, 100),
    service.call({ method: 'GET', path: '/health/ready', token: null }),
  ].map((answer) => answer.finally(() => answered++))
  const live = await service.call({ method: 'GET', path: '/health/live', token: null })
  t.equal(live.status, 200)
  t.equal(answered, 0, 'the service itself responds while the others wait')
  for (const answer of answers) assertUnavailable(t, await answer)
  t.ok(performance.now() - from < RESPONSE_MS_MAX, 'every request was answered in time')
  server.thaw()
  const ready = { method: 'GET', path: '/health/ready', token: null }
  for (const request of [() => create(service, 101), () => service.call(ready)]) {
    let { status } = await request()
    while (status === 503) ({ status } = await request())
    t.equal(status, 200)
  }
})

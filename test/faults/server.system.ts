/** Failures of a PostgreSQL server, as requests see them. test/consistency/ crashes it under load. */
import pg from 'pg'
import t, { type Test } from 'tap'
import { startPostgres } from '../../tools/postgres/server.ts'
import type { Answer } from '../helpers/contract-check.ts'
import { type Service, startOn, startService } from '../helpers/service.ts'

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

function assertUnavailable(t: Test, { status, headers }: Answer, retryAfter = '5'): void {
  t.equal(status, 503)
  t.equal(headers['retry-after'], retryAfter)
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

for (const what of ['terminate', 'cancel']) {
  t.test(`a change is not acknowledged if an administrator uses pg_${what}_backend`, async (t) => {
    const service = await startService(t)
    const other = new pg.Client({ connectionString: service.database })
    await other.connect()
    t.teardown(() => other.end())
    await other.query('BEGIN')
    await other.query('LOCK TABLE plants')
    const answer = create(service, 1)
    const waiting = `FROM pg_stat_activity WHERE wait_event_type = 'Lock'`
    while ((await server.query(`SELECT pg_${what}_backend(pid) ${waiting}`)).length === 0);
    assertUnavailable(t, await answer)
    await other.query('ROLLBACK')
    t.equal((await create(service, 1)).status, 200)
  })
}

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

t.test('changes succeed again once the server is no longer read-only', async (t) => {
  const service = await startService(t)
  t.equal((await create(service, 1)).status, 200)
  await server.set('default_transaction_read_only', 'on')
  t.teardown(() => server.set('default_transaction_read_only', 'off'))
  await waitForReadOnly('on')
  assertUnavailable(t, await create(service, 2))
  assertUnavailable(t, await create(service, 2))
  await server.set('default_transaction_read_only', 'off')
  await waitForReadOnly('off')
  t.equal((await create(service, 2)).status, 200)
})

async function waitForReadOnly(value: 'on' | 'off'): Promise<void> {
  const setting = 'SHOW default_transaction_read_only'
  for (;;) {
    const [row] = await server.query<Record<string, string>>(setting)
    if (row?.default_transaction_read_only === value) return
  }
}

t.test('requests get 503 while the server has no free connection', async (t) => {
  const service = await startService(t)
  await server.stop()
  await server.start({ max_connections: '20', superuser_reserved_connections: '0' })
  const others = await takeAllConnections(service.database)
  assertUnavailable(t, await create(service, 1), '1')
  assertUnavailable(t, await service.call({ method: 'GET', path: '/plants/1' }), '1')
  await Promise.all(others.map((other) => other.end()))
  // The server notices only after a while that they have ended.
  let { status } = await create(service, 1)
  while (status === 503) ({ status } = await create(service, 1))
  t.equal(status, 200)
})

async function takeAllConnections(connectionString: string): Promise<pg.Client[]> {
  const clients: pg.Client[] = []
  for (;;) {
    const client = new pg.Client({ connectionString })
    try {
      await client.connect()
    } catch (error) {
      if ((error as pg.DatabaseError).code === '53300') return clients
      throw error
    }
    clients.push(client)
  }
}

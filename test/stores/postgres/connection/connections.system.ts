import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../../../service/store/plant-store.ts'
import { Connections } from '../../../../src/stores/postgres/connection/connections.ts'
import { Deadline } from '../../../../src/stores/postgres/connection/deadline.ts'
import { Hosts } from '../../../../src/stores/postgres/connection/hosts.ts'
import type { Run } from '../../../../src/stores/postgres/connection/pooled-client.ts'
import { sharedPostgres } from '../../../helpers/service/shared-postgres.ts'
import { set } from '../databases.ts'
import { databaseOf, delayingProxy, nameOf, raise, silentHost, UNREACHABLE } from '../sessions.ts'

const { server, emptyDatabase } = await sharedPostgres()
await set(server, 'deadlock_timeout', '10ms')
t.teardown(() => set(server, 'deadlock_timeout', '1s'))

/** The number of connections that a replica uses under load. */
const ALL = 10

function connectionsTo(t: Test, urls: readonly string[], timeout = 10_000): Connections {
  const connections = new Connections({ urls, timeout })
  t.teardown(() => connections.close())
  return connections
}

/** Repeats a query until a connection has been made in time. */
async function untilConnectedTo(url: string, connections: Connections): Promise<void> {
  while ((await databaseOf(connections).catch(() => undefined)) !== nameOf(url));
}

/** Ends all connections to a database. Resolves when they are closed. */
function terminate(url: string): Promise<unknown> {
  return server.query(
    `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '${nameOf(url)}'`,
  )
}

t.test('hosts that are down or read-only are skipped', async (t) => {
  const [standby, primary] = [await emptyDatabase(), await emptyDatabase()]
  const readOnly = (url: string, value: 'on' | 'off') =>
    server.query(`ALTER DATABASE ${nameOf(url)} SET default_transaction_read_only = ${value}`)
  await readOnly(standby, 'on')
  const connections = connectionsTo(t, [UNREACHABLE, standby, primary])
  t.equal(await databaseOf(connections), nameOf(primary))

  // A failover.
  await readOnly(standby, 'off')
  await readOnly(primary, 'on')
  t.equal(await databaseOf(connections), nameOf(primary), 'open connections are not verified again')
  await terminate(primary)
  const names = await Promise.all(Array.from({ length: ALL }, () => databaseOf(connections)))
  t.same(new Set(names), new Set([nameOf(standby)]))
})

t.test('a late failure of a host does not change the primary again', async (t) => {
  const [slow, down] = [await silentHost(t), await silentHost(t)]
  const url = await emptyDatabase()
  const connections = connectionsTo(t, [slow.url, down.url, url], 60_000)
  const both = [databaseOf(connections), databaseOf(connections)]
  await slow.accepted(2)
  const [first, second] = slow.sockets
  first?.destroy()
  await down.accepted(1)
  down.sockets[0]?.destroy()
  t.equal(await Promise.race(both), nameOf(url))
  second?.destroy()
  t.same(await Promise.all(both), [nameOf(url), nameOf(url)])
  t.equal(down.sockets.length, 1, 'the primary stays, and no other host is tried')
})

t.test('if no host is reachable, the error is that of the last one', async (t) => {
  const refused = { name: 'StoreUnavailable', reason: 'failing', message: /ECONNREFUSED/ }
  await t.rejects(connectionsTo(t, [UNREACHABLE]).query('SELECT'), refused)
  await t.rejects(connectionsTo(t, [UNREACHABLE, UNREACHABLE]).query('SELECT'), refused)
  const unknown = connectionsTo(t, [UNREACHABLE, server.url('unknown')])
  await t.rejects(unknown.query('SELECT'), {
    message: 'the store is failing: 3D000: database "unknown" does not exist',
  })
})

t.test('a transaction takes effect as a whole or not at all', async (t) => {
  const url = await emptyDatabase()
  const connections = connectionsTo(t, [url])
  await connections.query('CREATE TABLE numbers (number int)')
  const backend = await connections.query('SELECT pg_backend_pid()')
  const insert = async (run: Run) => {
    await run('INSERT INTO numbers VALUES (1)')
    await run('INSERT INTO numbers VALUES (2)')
    return 'done'
  }
  t.equal(await connections.unverifiedTransaction(insert), 'done')
  const error = new Error('rolled back on purpose')
  const rolledBack = connections.unverifiedTransaction(async (run) => {
    await insert(run)
    throw error
  })
  t.equal(await rolledBack.catch((reason) => reason), error)
  const mistaken = connections.unverifiedTransaction(async (run) => {
    await insert(run)
    await run('SELECT nothing')
  })
  await t.rejects(mistaken, { code: '42703' }, 'a bug is passed on unchanged')
  t.same(await connections.query('SELECT number FROM numbers ORDER BY number'), [
    { number: 1 },
    { number: 2 },
  ])
  t.same(await connections.query('SELECT pg_backend_pid()'), backend, 'on the same connection')
})

t.test('a transaction is retried a limited number of times', async (t) => {
  const connections = connectionsTo(t, [server.url()])
  let tries = 0
  const hopeless = connections.unverifiedTransaction((run) => {
    tries++
    return run(raise('40001'))
  })
  await t.rejects(hopeless, new StoreUnavailable('busy', '40001: on purpose'))
  t.equal(tries, 10)
})

function hostsOf(t: Test, url: string, timeout: number): Hosts {
  const hosts = new Hosts([url], timeout)
  t.teardown(() => hosts.close())
  return hosts
}

const deadlineIn = (ms: number) => new Deadline(ms)

/** Asks for all connections at once. */
function connectAll(hosts: Hosts) {
  return Promise.allSettled(Array.from({ length: ALL }, () => hosts.connect(deadlineIn(60_000))))
}

function release(results: Awaited<ReturnType<typeof connectAll>>, close = false): void {
  for (const result of results) if (result.status === 'fulfilled') result.value.release(close)
}

const statusesOf = (results: readonly { status: string }[]) =>
  new Set(results.map(({ status }) => status))

t.test('a connection that comes too late for a call is used by others', async (t) => {
  const hosts = hostsOf(t, server.url(), 60_000)
  const first = await connectAll(hosts)
  await t.rejects(hosts.connect(deadlineIn(1)), {
    message: 'the store is failing: the server did not respond within 1 ms',
  })
  release(first)
  const next = await connectAll(hosts)
  t.same(statusesOf(next), new Set(['fulfilled']))
  release(next)
  t.match(hosts.figures, { used: 0, pending: 0 })
})

t.test('a connection that is verified too late for a call is used by others', async (t) => {
  const proxy = await delayingProxy(t, server.url(), 'SHOW transaction_read_only')
  const timeout = 100_000
  const hosts = hostsOf(t, proxy.url, timeout)
  const first = await connectAll(hosts)
  const start = setTimeout
  const timers: (() => void)[] = []
  const captured = t.capture(globalThis, 'setTimeout', (callback: () => void, ms: number) => {
    if (ms === timeout) timers.push(callback)
    return start(callback, ms)
  })
  const late = connectAll(hosts)
  captured.restore()
  proxy.delay()
  release(first, true)
  await proxy.delayed(ALL)
  // The callers have waited long enough while their connections are being verified.
  t.equal(timers.length, ALL)
  for (const expire of timers) expire()
  t.same(statusesOf(await late), new Set(['rejected']))
  proxy.continue()
  const last = await connectAll(hosts)
  t.same(statusesOf(last), new Set(['fulfilled']))
  release(last)
  t.equal(hosts.figures.used, 0)
})

t.test('a connection lost between two statements fails its transaction or snapshot', async (t) => {
  const url = await emptyDatabase()
  const connections = connectionsTo(t, [url])
  const lost = { name: 'StoreUnavailable', reason: 'failing' }
  const parts = connections.readSnapshot(async function* (run) {
    for (;;) yield await run('SELECT')
  })
  await parts.next()
  await terminate(url)
  await t.rejects(parts.next(), lost)
  const transaction = connections.unverifiedTransaction(async (run) => {
    await run('SELECT')
    await terminate(url)
    await run('SELECT')
  })
  await t.rejects(transaction, lost)
  const rolledBack = connections.unverifiedTransaction(async (run) => {
    await run('SELECT')
    await terminate(url)
    throw new Error('rolled back on purpose')
  })
  await t.rejects(rolledBack, { message: 'rolled back on purpose' })
  t.equal(await databaseOf(connections), nameOf(url))
})

t.test('a statement times out without affecting the next one', async (t) => {
  const url = await emptyDatabase()
  const connections = connectionsTo(t, [url], 200)
  // Waits for the transaction that creates the same table.
  const make = 'CREATE TABLE contested (id int)'
  const refused = await connectionsTo(t, [url]).unverifiedTransaction(async (run) => {
    await run(make)
    return connections.query(make).catch((error: unknown) => error)
  })
  t.match(refused, { name: 'StoreUnavailable', reason: 'failing' })
  await untilConnectedTo(url, connections)
})

t.test('a connection whose ROLLBACK failed is not reused', async (t) => {
  const url = await emptyDatabase()
  const connections = connectionsTo(t, [url], 2000)
  const lock = 'SELECT pg_advisory_xact_lock(1)'
  const locked = Promise.withResolvers<void>()
  const finished = Promise.withResolvers<void>()
  const holder = connectionsTo(t, [url]).unverifiedTransaction(async (run) => {
    await run(lock)
    locked.resolve()
    await finished.promise
  })
  await locked.promise
  const abandoned = connections.unverifiedTransaction(async (run) => {
    // Still waiting for the lock when the ROLLBACK is sent, which therefore times out.
    run(lock).catch(() => {})
    throw new Error('rolled back on purpose')
  })
  await t.rejects(abandoned, { message: 'rolled back on purpose' })
  await untilConnectedTo(url, connections)
  finished.resolve()
  await holder
})

t.test('close abandons the calls in flight', async (t) => {
  const connections = new Connections({ urls: [await emptyDatabase()], timeout: 60_000 })
  // The last one waits for a connection.
  const sleeping = Array.from({ length: ALL + 1 }, () => connections.query('SELECT pg_sleep(600)'))
  const refused = sleeping.map((call) =>
    t.rejects(call, new StoreUnavailable('failing', 'the store is closing')),
  )
  await connections.close()
  await Promise.all(refused)
  await t.rejects(connections.query('SELECT'), { name: 'StoreUnavailable' })
})

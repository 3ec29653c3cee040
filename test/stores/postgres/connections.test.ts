import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../../service/plant-store.ts'
import { Connections, type Run } from '../../../src/stores/postgres/connections.ts'
import { sharedPostgres } from '../../helpers/shared-postgres.ts'
import { set } from './databases.ts'

const { server, emptyDatabase } = await sharedPostgres()
await set(server, 'deadlock_timeout', '10ms')
t.teardown(() => set(server, 'deadlock_timeout', '1s'))

/** As many as a replica has, as each of them is at work. */
const ALL = 10

function connectionsTo(t: Test, urls: readonly string[], timeout = 10_000): Connections {
  const connections = new Connections({ urls, timeout })
  t.teardown(() => connections.close())
  return connections
}

/** A server that is not there: nobody listens on the port of a system service. */
const NOBODY = 'postgres://plants@127.0.0.1:1/postgres'

/** Has a transaction fail on the server with this code. */
function raise(code: string): string {
  return `DO $$ BEGIN RAISE EXCEPTION 'on purpose' USING ERRCODE = '${code}'; END $$`
}

async function databaseOf(connections: Connections): Promise<string | undefined> {
  const [row] = await connections.query<{ name: string }>('SELECT current_database() AS name')
  return row?.name
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1)
}

/** What the connections to a database do, seen by somebody else. */
async function statesIn(url: string): Promise<string[]> {
  const rows = await server.query<{ state: string }>(
    `SELECT state FROM pg_stat_activity WHERE datname = '${nameOf(url)}' AND pid <> pg_backend_pid()`,
  )
  return rows.map(({ state }) => state)
}

/** Resolves when they are gone. */
function terminate(url: string): Promise<unknown> {
  return server.query(
    `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '${nameOf(url)}'`,
  )
}

t.test('a host that is down, or takes no changes, is passed over', async (t) => {
  const [standby, primary] = [await emptyDatabase(), await emptyDatabase()]
  const readOnly = (url: string, value: 'on' | 'off') =>
    server.query(`ALTER DATABASE ${nameOf(url)} SET default_transaction_read_only = ${value}`)
  await readOnly(standby, 'on')
  const connections = connectionsTo(t, [NOBODY, standby, primary])
  t.equal(await databaseOf(connections), nameOf(primary))

  // The roles are exchanged, as by a failover.
  await readOnly(standby, 'off')
  await readOnly(primary, 'on')
  t.equal(await databaseOf(connections), nameOf(primary), 'a connection is not asked again')
  await terminate(primary)
  const names = await Promise.all(Array.from({ length: ALL }, () => databaseOf(connections)))
  t.same(new Set(names), new Set([nameOf(standby)]))
})

/** A host that accepts connections, and never says anything. */
async function silentHost(t: Test) {
  const sockets: Socket[] = []
  const host = createServer((socket) => {
    socket.on('error', () => {})
    sockets.push(socket)
    host.emit('accepted')
  })
  await once(host.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    host.close()
  })
  const { port } = host.address() as AddressInfo
  const accepted = async (count: number) => {
    while (sockets.length < count) await once(host, 'accepted')
  }
  return { url: `postgres://plants@127.0.0.1:${port}/postgres`, sockets, accepted }
}

t.test('a host that fails late is not given up for a second time', async (t) => {
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
  t.equal(down.sockets.length, 1, 'the current primary stays, and no other host is tried again')
})

t.test('when no host can be had, the last one says why', async (t) => {
  const refused = { name: 'StoreUnavailable', reason: 'failing', message: /ECONNREFUSED/ }
  await t.rejects(connectionsTo(t, [NOBODY]).query('SELECT'), refused)
  await t.rejects(connectionsTo(t, [NOBODY, NOBODY]).query('SELECT'), refused)
  const unknown = connectionsTo(t, [NOBODY, server.url('unknown')])
  await t.rejects(unknown.query('SELECT'), {
    message: 'the store is failing: 3D000: database "unknown" does not exist',
  })
})

t.test('an integer of 64 bits is a bigint, and others are what they are', async (t) => {
  const connections = connectionsTo(t, [server.url()])
  const rows = await connections.query('SELECT $1::int8 AS long, $2::int4 AS short, true AS yes', [
    -(2n ** 63n),
    7,
  ])
  t.strictSame(rows, [{ long: -(2n ** 63n), short: 7, yes: true }])
})

t.test('a transaction is made as a whole, or not at all', async (t) => {
  const url = await emptyDatabase()
  const connections = connectionsTo(t, [url])
  await connections.query('CREATE TABLE numbers (number int)')
  const backend = await connections.query('SELECT pg_backend_pid()')
  const insert = async (run: Run) => {
    await run('INSERT INTO numbers VALUES (1)')
    await run('INSERT INTO numbers VALUES (2)')
    return 'done'
  }
  t.equal(await connections.transaction(insert), 'done')
  const error = new Error('on second thoughts')
  const regretted = connections.transaction(async (run) => {
    await insert(run)
    throw error
  })
  t.equal(await regretted.catch((reason) => reason), error)
  const mistaken = connections.transaction(async (run) => {
    await insert(run)
    await run('SELECT nothing')
  })
  await t.rejects(mistaken, { code: '42703' }, 'a mistake of ours is passed on as it is')
  t.same(await connections.query('SELECT number FROM numbers ORDER BY number'), [
    { number: 1 },
    { number: 2 },
  ])
  t.same(await connections.query('SELECT pg_backend_pid()'), backend, 'on one connection')
})

t.test('a transaction that was ended for the sake of others is made again', async (t) => {
  const connections = connectionsTo(t, [await emptyDatabase()])
  await connections.query('CREATE TABLE numbers (id int PRIMARY KEY, number int)')
  await connections.query('INSERT INTO numbers VALUES (1, 0), (2, 0)')
  const bothHaveOne = Promise.withResolvers<void>()
  let having = 0
  const increment = (ids: readonly number[]) =>
    connections.transaction(async (run) => {
      for (const id of ids) {
        await run('UPDATE numbers SET number = number + 1 WHERE id = $1', [id])
        if (++having === 2) bothHaveOne.resolve()
        await bothHaveOne.promise
      }
    })
  await Promise.all([increment([1, 2]), increment([2, 1])])
  t.ok(having > 4, 'one of them was in the way')
  t.same(await connections.query('SELECT number FROM numbers'), [{ number: 2 }, { number: 2 }])
})

t.test('a transaction that is ended over and over fails, and is not made for ever', async (t) => {
  const connections = connectionsTo(t, [server.url()])
  let tries = 0
  const hopeless = connections.transaction((run) => {
    tries++
    return run(raise('40001'))
  })
  await t.rejects(hopeless, new StoreUnavailable('busy', '40001: on purpose'))
  t.equal(tries, 10)
})

t.test('what the standbys have not confirmed is not acknowledged', async (t) => {
  const url = await emptyDatabase()
  const connections = connectionsTo(t, [url])
  const say = (level: string) => connections.query(`DO $$ BEGIN RAISE ${level} 'so'; END $$`)
  await say('NOTICE')
  // The code of every warning, which is that of a commit that somebody has cancelled the wait for.
  await t.rejects(say('WARNING'), new StoreUnavailable('failing', '01000'))
  await say('NOTICE')
})

t.test('a snapshot that is not read to its end gives its connection back', async (t) => {
  const url = await emptyDatabase()
  const connections = connectionsTo(t, [url])
  const parts = () =>
    connections.snapshot(async function* (run) {
      for (;;) yield await run('SELECT')
    })
  for (let round = 0; round < 2; round++) {
    await Promise.all(
      Array.from({ length: ALL }, async () => {
        for await (const _part of parts()) return
      }),
    )
  }
  // Which could not be done in a transaction of theirs.
  t.same(await connections.query('CREATE TABLE numbers (number int)'), [])
  const failing = connections.snapshot(async function* (run) {
    yield await run('SELECT nothing')
  })
  await t.rejects(failing.next(), { code: '42703' })
})

t.test('a snapshot is of one moment, and keeps its connection when it was read', async (t) => {
  const url = await emptyDatabase()
  const connections = connectionsTo(t, [url])
  await connections.query('CREATE TABLE numbers (number int)')
  const counts = connections.snapshot(async function* (run) {
    for (let part = 0; part < 2; part++) yield await run('SELECT count(*) AS count FROM numbers')
  })
  t.same((await counts.next()).value, [{ count: 0n }])
  await connections.query('INSERT INTO numbers VALUES (1)')
  t.same(await Array.fromAsync(counts), [[{ count: 0n }]])
  t.same(await statesIn(url), ['idle', 'idle'])
})

t.test('a connection that is lost between two statements fails what it was for', async (t) => {
  const url = await emptyDatabase()
  const connections = connectionsTo(t, [url])
  const lost = { name: 'StoreUnavailable', reason: 'failing' }
  const parts = connections.snapshot(async function* (run) {
    for (;;) yield await run('SELECT')
  })
  await parts.next()
  await terminate(url)
  await t.rejects(parts.next(), lost)
  const transaction = connections.transaction(async (run) => {
    await run('SELECT')
    await terminate(url)
    await run('SELECT')
  })
  await t.rejects(transaction, lost)
  const regretted = connections.transaction(async (run) => {
    await run('SELECT')
    await terminate(url)
    throw new Error('on second thoughts')
  })
  await t.rejects(regretted, { message: 'on second thoughts' })
  t.equal(await databaseOf(connections), nameOf(url))
})

t.test('a statement that takes too long fails, and the next one has no part in it', async (t) => {
  const url = await emptyDatabase()
  const connections = connectionsTo(t, [url], 200)
  // It waits for another one that makes the same table, until that is gone.
  const make = 'CREATE TABLE contested (id int)'
  const refused = await connectionsTo(t, [url]).transaction(async (run) => {
    await run(make)
    return connections.query(make).catch((error: unknown) => error)
  })
  t.match(refused, { name: 'StoreUnavailable', reason: 'failing' })
  t.equal(await databaseOf(connections), nameOf(url))
})

t.test('a connection that cannot be rolled back is not used again', async (t) => {
  const url = await emptyDatabase()
  const connections = connectionsTo(t, [url], 1000)
  const abandoned = connections.transaction(async (run) => {
    // Still running when the ROLLBACK is sent, which therefore times out.
    run('SELECT pg_sleep(60)').catch(() => {})
    throw new Error('on second thoughts')
  })
  await t.rejects(abandoned, { message: 'on second thoughts' })
  t.equal(await databaseOf(connections), nameOf(url))
})

t.test('more than a bound does not wait for a connection', async (t) => {
  const connections = connectionsTo(t, [await emptyDatabase()], 60_000)
  const gate = Promise.withResolvers<void>()
  const busy = Array.from({ length: ALL }, () => connections.transaction(() => gate.promise))
  const waiting = Array.from({ length: 10_000 }, () => connections.query('SELECT'))
  const refused = { name: 'StoreUnavailable', reason: 'busy' }
  await t.rejects(connections.query('SELECT'), refused)
  await t.rejects(connections.snapshot(async function* () {}).next(), refused)
  gate.resolve()
  await Promise.all([...busy, ...waiting])
  t.same(await connections.query('SELECT'), [{}])
})

t.test('closing waits for what is under way', async (t) => {
  const url = await emptyDatabase()
  const connections = new Connections({ urls: [url], timeout: 10_000 })
  const gate = Promise.withResolvers<void>()
  const order: string[] = []
  // One of them waits for the connection of another one.
  const working = Promise.all(
    Array.from({ length: ALL + 1 }, () => connections.transaction(() => gate.promise)),
  ).then(() => order.push('worked'))
  const closing = connections.close().then(() => order.push('closed'))
  await setImmediate()
  gate.resolve()
  await Promise.all([working, closing])
  t.same(order, ['worked', 'closed'])
  await t.rejects(connections.query('SELECT'), { name: 'StoreUnavailable' })
})

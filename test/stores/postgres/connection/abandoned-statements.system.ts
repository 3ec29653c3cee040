/** What happens on the server to statements that the store no longer waits for. */

import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import t, { type Test } from 'tap'
import { cancelStatement } from '../../../../src/stores/postgres/connection/cancellation.ts'
import { PostgresStore } from '../../../../src/stores/postgres/postgres-store.ts'
import { PostgresServer, startPostgres } from '../../../../tools/postgres/postgres-server.ts'
import { issue } from '../../../helpers/network/certificates.ts'
import { createAll } from '../../../helpers/plants/lists.ts'
import { createIn, updateIn } from '../../../helpers/plants/single-changes.ts'
import { countWaiting, nameOf, silentHost } from '../sessions.ts'

const { server, emptyDatabase } = await startPostgres(t)

const TIMEOUT_MS = 2000

/** How much longer than its timeout a call can take on a busy machine. */
const MARGIN_MS = 30_000

async function open(t: Test, url: string, timeout = TIMEOUT_MS): Promise<PostgresStore> {
  const store = await PostgresStore.open({ url, timeout: 60_000 })
  await store.close()
  const impatient = await PostgresStore.open({ url, timeout })
  t.teardown(() => impatient.close())
  return impatient
}

/** Locks the plants until the test ends. */
async function lockPlants(t: Test, connectionString: string): Promise<void> {
  const holder = new pg.Client({ connectionString, ssl: false })
  await holder.connect()
  t.teardown(() => holder.end())
  await holder.query('BEGIN')
  await holder.query('LOCK TABLE plants')
}

async function untilNoneWaits(on: PostgresServer, database: string): Promise<void> {
  while ((await countWaiting(on, database)) > 0);
}

/** How long a call takes to fail. */
async function timeFailure(t: Test, call: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await t.rejects(call(), { name: 'StoreUnavailable', reason: 'failing' })
  return performance.now() - start
}

t.test('a locked table leaves no statements waiting on the server', async (t) => {
  const url = await emptyDatabase()
  const store = await open(t, url)
  await lockPlants(t, url)
  for (let round = 0; round < 2; round++) {
    const calls = Array.from({ length: 20 }, (_, index) => [
      createIn(store, { id: BigInt(index), name: 'x' }),
      createAll(store, [{ id: BigInt(index), name: 'x' }]),
      updateIn(store, BigInt(index), { name: 'x' }),
      store.get(BigInt(index)),
    ]).flat()
    const results = await Promise.allSettled<unknown>(calls)
    t.notOk(results.find(({ status }) => status === 'fulfilled'))
  }
  await untilNoneWaits(server, nameOf(url))
  t.pass('while the table is still locked')
})

t.test('a snapshot that times out leaves no statement waiting', async (t) => {
  const url = await emptyDatabase()
  const store = await open(t, url)
  await lockPlants(t, url)
  await t.rejects(Array.fromAsync(store.exportPlants()), { name: 'StoreUnavailable' })
  await untilNoneWaits(server, nameOf(url))
})

t.test('statements are canceled on encrypted connections', async (t) => {
  const { cert, key } = issue({ name: 'server', hosts: ['127.0.0.1'] })
  const encrypted = await PostgresServer.make(t)
  encrypted.write('server.pem', cert)
  encrypted.write('server.key', key)
  await encrypted.start({ ssl: 'on', ssl_cert_file: 'server.pem', ssl_key_file: 'server.key' })
  // A connection in plain text would be refused.
  encrypted.write('pg_hba.conf', 'hostssl all all all trust\nhost postgres all all trust\n')
  const file = `${t.testdir({ 'ca.pem': cert })}/ca.pem`
  const url = await encrypted.database('plants')
  await encrypted.query('SELECT pg_reload_conf()')
  const store = await open(t, `${url}?sslrootcert=${encodeURIComponent(file)}`, 2000)
  await encrypted.query('SELECT pg_reload_conf()')
  const holder = new pg.Client({ connectionString: url, ssl: { ca: cert } })
  await holder.connect()
  t.teardown(() => holder.end())
  await holder.query('BEGIN')
  await holder.query('LOCK TABLE plants')
  await t.rejects(store.get(1n), { name: 'StoreUnavailable' })
  await untilNoneWaits(encrypted, 'plants')
})

t.test('a frozen server delays a call no longer than the timeout', async (t) => {
  const other = await silentHost(t)
  const frozen = await PostgresServer.make(t)
  await frozen.start()
  const hosts = [frozen.host, new URL(other.url).host]
  const store = await open(t, `postgres://plants@${hosts}/postgres`)
  await createIn(store, { id: 1n, name: 'x' })
  frozen.freeze()
  t.teardown(() => frozen.thaw())
  for (const call of [
    () => updateIn(store, 1n, { name: 'y' }, ['name=x']),
    () => createAll(store, [{ id: 2n, name: 'x' }]),
    () => store.get(1n),
    () => createIn(store, { id: 3n, name: 'x' }),
  ]) {
    const elapsed = await timeFailure(t, call)
    t.ok(elapsed < TIMEOUT_MS + MARGIN_MS, `after ${Math.round(elapsed)} ms`)
  }
})

t.test('a store closes although the server is frozen', async (t) => {
  const frozen = await PostgresServer.make(t)
  await frozen.start()
  const store = await open(t, frozen.url())
  await Promise.all([store.get(1n), store.list({ limit: 1 })])
  frozen.freeze()
  t.teardown(() => frozen.thaw())
  const pending = t.rejects(createIn(store, { id: 1n, name: 'x' }), { name: 'StoreUnavailable' })
  await store.close()
  await pending
})

t.test('a cancel request through a Unix socket names the statement', async (t) => {
  const host = mkdtempSync(join(tmpdir(), 'plant-store-'))
  t.teardown(() => rmSync(host, { recursive: true }))
  const running = Promise.withResolvers<void>()
  const socketServer = createServer((socket) => {
    socket.on('data', (request: Buffer) => {
      const fields = [0, 4, 8, 12].map((offset) => request.readInt32BE(offset))
      // The length, the code of a cancel request, and the key of the connection.
      t.same(fields, [16, 80_877_102, 7, 8])
      running.resolve()
    })
  })
  t.teardown(() => socketServer.close())
  await once(socketServer.listen(join(host, '.s.PGSQL.5432')), 'listening')
  const client = { ssl: false, host, port: 5432, processID: 7, secretKey: 8 }
  await cancelStatement(client as unknown as pg.Client, running.promise)
})

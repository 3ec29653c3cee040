import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import pg from 'pg'
import t from 'tap'
import { StoreUnavailable } from '../../service/store/plant-store.ts'
import { PostgresStore } from '../../src/stores/postgres/postgres-store.ts'
import { freePort, PostgresServer, startPostgres } from '../../tools/postgres/postgres-server.ts'
import { createIn, updateIn } from '../helpers/plants/single-changes.ts'
import { modelSuite } from '../stores/model-suite.ts'
import type { Engine } from '../stores/store-suite.ts'
import { exportSuite } from '../stores/suites/export-suite.ts'
import { feedSuite } from '../stores/suites/feed-suite.ts'
import { tokenSuite } from '../stores/suites/token-suite.ts'

/** Its path in Debian's package. */
const PGBOUNCER = '/usr/sbin/pgbouncer'

/** The store's suites that cover every kind of transaction. */
const SUITES = [modelSuite, exportSuite, tokenSuite, feedSuite]

const skip = spawnSync(PGBOUNCER, ['--version']).error && `${PGBOUNCER} is missing`

if (skip === undefined) {
  await testThroughPooler()
  await testStandbys()
} else {
  t.test('the store works through a pooler', { skip }, async () => {})
}

/** Fewer connections than stores, so that successive transactions use different ones. */
async function testThroughPooler(): Promise<void> {
  const { server, emptyDatabase } = await startPostgres(t)
  const { pooler, port } = await startPooler(server.host)
  const pooled = (url: string) => url.replace(server.host, `127.0.0.1:${port}`)

  const engine: Engine = {
    lasting: true,
    place: async () => {
      const url = pooled(await emptyDatabase())
      return () => PostgresStore.open({ url, timeout: 60_000 })
    },
  }
  for (const suite of SUITES) {
    t.test(`through a pooler: ${suite.name}`, async (t) => suite(t, engine))
  }

  t.test('abandoned statements are canceled through the pooler', async (t) => {
    const url = await emptyDatabase()
    const store = await PostgresStore.open({ url: pooled(url), timeout: 2000 })
    t.teardown(() => store.close())
    const holder = new pg.Client({ connectionString: url })
    await holder.connect()
    t.teardown(() => holder.end())
    await holder.query('BEGIN')
    await holder.query('LOCK TABLE plants')
    const calls = Array.from({ length: 20 }, (_, id) => updateIn(store, BigInt(id), { name: 'x' }))
    const results = await Promise.allSettled(calls)
    t.notOk(results.find(({ status }) => status === 'fulfilled'))
    const waiting = `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'`
    while (pooler.exitCode === null && (await server.query(waiting)).length > 0);
    t.equal(pooler.exitCode, null, 'the pooler still runs')
    await holder.query('ROLLBACK')
    t.equal(await createIn(store, { id: 1n, name: 'x' }), 'created')
  })

  t.test('connections between the pooler and the server are replaced', async (t) => {
    // The pooler makes statements wait until the server is back.
    const store = await PostgresStore.open({ url: pooled(await emptyDatabase()), timeout: 2000 })
    t.teardown(() => store.close())
    t.equal(await createIn(store, { id: 1n, name: 'x' }), 'created')
    await server.stop()
    await t.rejects(createIn(store, { id: 2n, name: 'x' }), { name: 'StoreUnavailable' })
    await server.start()
    while (!(await isStored(store))) t.pass('the server is not back yet')
    t.strictSame(await store.get(1n), { id: 1n, name: 'x' })
  })
}

/** The statements that verify the standbys share a transaction, or at least a connection, with the change. */
async function testStandbys(): Promise<void> {
  const primary = await PostgresServer.make(t)
  const standby = await primary.copy(t, 'one')
  await primary.start({ synchronous_standby_names: 'one' })
  await standby.start(standby.follow(primary, 'one'))
  const { port } = await startPooler(primary.host)
  let databases = 0
  const engine: Engine = {
    lasting: true,
    place: async () => {
      const direct = await primary.database(`pooled_${++databases}`)
      const url = direct.replace(primary.host, `127.0.0.1:${port}`)
      return () => PostgresStore.open({ url, timeout: 60_000, requireStandbys: 1 })
    },
  }
  t.test('with a required standby', async (t) => modelSuite(t, engine))
}

/** Creates a plant, which the pooler may also have stored late. */
async function isStored(store: PostgresStore): Promise<boolean> {
  try {
    return (await createIn(store, { id: 2n, name: 'x' })) !== 'plant-exists'
  } catch (error) {
    if (error instanceof StoreUnavailable) return false
    throw error
  }
}

/** Starts the pooler. Resolves to its process and port. */
async function startPooler(host: string): Promise<{ pooler: ChildProcess; port: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-pooler-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const port = await freePort()
  const [address, serverPort] = host.split(':')
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(
    file,
    `[databases]
     * = host=${address} port=${serverPort} user=plants
     [pgbouncer]
     listen_addr = 127.0.0.1
     listen_port = ${port}
     unix_socket_dir =
     auth_type = any
     pool_mode = transaction
     default_pool_size = 4
     server_login_retry = 0.1`.replaceAll(/^ +/gm, ''),
  )
  // PgBouncer refuses to run as root, and switches users before it reads the file.
  const user = process.getuid?.() === 0 ? ['--user', 'nobody'] : []
  const pooler = spawn(PGBOUNCER, [...user, file], { stdio: ['ignore', 'ignore', 'pipe'] })
  t.teardown(() => stop(pooler))
  const log: string[] = []
  for await (const line of createInterface(pooler.stderr as Readable)) {
    log.push(line)
    if (line.includes('process up')) break
  }
  if (!log.at(-1)?.includes('process up')) throw new Error(log.join('\n'))
  pooler.stderr?.resume()
  return { pooler, port }
}

async function stop(pooler: ChildProcess): Promise<void> {
  if (pooler.exitCode !== null) return
  const gone = once(pooler, 'close')
  pooler.kill('SIGKILL')
  await gone
}

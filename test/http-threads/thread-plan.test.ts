import { Server } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Config, defaultConfig } from '../../src/config/config.ts'
import { canSharePort } from '../../src/http-threads/port-reservation.ts'
import { chooseCount, planThreads } from '../../src/http-threads/thread-plan.ts'
import { startPlantStore } from '../../src/index.ts'
import { openStore } from '../../src/stores/engines.ts'
import type { Store } from '../../src/stores/shared/store.ts'
import { inMemory, makeFolder } from '../../tools/temporary-folders.ts'

for (const [processors, threads] of [
  [1, 1],
  [2, 1],
  [3, 2],
  [4, 3],
  [8, 7],
  [9, 8],
  [10, 8],
  [128, 8],
] as const) {
  t.test(`by default, ${threads} threads serve on ${processors} processors`, async (t) => {
    t.equal(chooseCount(processors), threads)
  })
}

/** Plans the threads of a service with a store of its own, on four processors. */
async function plan(t: Test, threads: Config['threads'], file?: ':memory:') {
  const database = file ?? join(makeFolder(t, inMemory()), 'plants.db')
  const config = { ...defaultConfig(), database, threads }
  const store = await openStore(config)
  t.teardown(() => store.close())
  const { links, warning } = await planThreads(config, store, 4)
  return { threads: links.length, warning }
}

t.test('one thread is the main thread', async (t) => {
  t.same(await plan(t, 1), { threads: 0, warning: undefined })
})

t.test('each of several threads gets a link to the store', async (t) => {
  t.same(await plan(t, 4), { threads: 4, warning: undefined })
})

t.test('auto leaves a processor to the writer', async (t) => {
  t.same(await plan(t, 'auto'), { threads: 3, warning: undefined })
})

t.test('a database in memory is served by the main thread', async (t) => {
  const warning = 'a database in memory is served by one thread'
  t.same(await plan(t, 4, ':memory:'), { threads: 0, warning })
  t.same(await plan(t, 'auto', ':memory:'), { threads: 0, warning: undefined })
})

t.test('a database on PostgreSQL is served by the main thread', async (t) => {
  const database = 'postgres://plants@127.0.0.1:1/plants'
  const planOn = (threads: Config['threads']) => {
    const store = { share: () => undefined } as Partial<Store> as Store
    return planThreads({ ...defaultConfig(), database, threads }, store, 4)
  }
  const warning = 'one thread serves a database on PostgreSQL: add replicas to scale'
  t.same(await planOn(2), { links: [], warning })
  t.same(await planOn('auto'), { links: [] })
})

/** Makes the system one on which listeners cannot share a port. */
function preventSharing(t: Test): void {
  const { listen } = Server.prototype
  t.teardown(() => Object.assign(Server.prototype, { listen }))
  Object.assign(Server.prototype, {
    listen(this: Server, options: { reusePort?: boolean }) {
      if (!options.reusePort) return listen.call(this, options)
      // As in libuv on macOS and Windows.
      queueMicrotask(() => this.emit('error', Object.assign(new Error(), { code: 'ENOTSUP' })))
      return this
    },
  })
}

t.test('a service has one listener if several cannot share a port', async (t) => {
  preventSharing(t)
  const { url, close } = await startPlantStore({ database: ':memory:', host: '127.0.0.1' })
  t.teardown(close)
  t.equal((await fetch(`${url}/health/live`)).status, 200)
})

t.test('the main thread serves if threads cannot share a port', async (t) => {
  preventSharing(t)
  t.equal(await canSharePort(), false)
  const warning = 'on this system one thread serves, because threads cannot share a port'
  t.same(await plan(t, 4), { threads: 0, warning })
  t.same(await plan(t, 'auto'), { threads: 0, warning: undefined })
})

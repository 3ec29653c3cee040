import { Server } from 'node:net'
import t, { type Test } from 'tap'
import { type Config, defaultConfig } from '../../src/config/config.ts'
import { startPlantStore } from '../../src/index.ts'
import type { Store } from '../../src/stores/shared/store.ts'
import { canSharePort } from '../../src/threads/port-reservation.ts'
import { chooseCount, planThreads } from '../../src/threads/thread-plan.ts'

t.test('by default, at most eight threads serve, and one processor is left', async (t) => {
  t.same([1, 2, 3, 4, 8, 9, 10, 128].map(chooseCount), [1, 1, 2, 3, 7, 8, 8, 8])
})

/** Plans the threads of a service on four processors. */
async function plan(threads: Config['threads'], database = 'plants.db') {
  const share = (count: number) => (database === 'plants.db' ? Array(count).fill({}) : undefined)
  const store = { share } as Partial<Store> as Store
  const { links, warning } = await planThreads({ ...defaultConfig(), database, threads }, store, 4)
  return { threads: links.length, warning }
}

const POSTGRES = 'postgres://plants@127.0.0.1:1/plants'

for (const [what, threads, database, planned, warning] of [
  ['one thread is the main thread', 1, 'plants.db', 0, undefined],
  ['each of several threads gets a link to the store', 4, 'plants.db', 4, undefined],
  ['auto leaves a processor to the writer', 'auto', 'plants.db', 3, undefined],
  ['a database in memory', 4, ':memory:', 0, 'a database in memory is served by one thread'],
  ['auto in memory', 'auto', ':memory:', 0, undefined],
  [
    'PostgreSQL',
    2,
    POSTGRES,
    0,
    'one thread serves a database on PostgreSQL: add replicas to scale',
  ],
  ['auto on PostgreSQL', 'auto', POSTGRES, 0, undefined],
] as const) {
  t.test(`${what}: ${planned} threads besides the main thread`, async (t) => {
    t.same(await plan(threads, database), { threads: planned, warning })
  })
}

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
  t.same(await plan(4), { threads: 0, warning })
  t.same(await plan('auto'), { threads: 0, warning: undefined })
})

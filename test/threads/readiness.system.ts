/** Threads that fail while the service starts or runs. Blocked threads are in failures.test.ts. */
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t from 'tap'
import { loadContract } from '../../core/contract/contract.ts'
import { defaultConfig } from '../../src/config/config.ts'
import { openStore } from '../../src/stores/engines.ts'
import type { StoreLink } from '../../src/stores/shared/store.ts'
import { prepareHttpThreads } from '../../src/threads/http-threads.ts'
import { inMemory, makeFolder } from '../../tools/tap/temporary-folders.ts'
import { startThreads } from '../helpers/service/threads.ts'

t.test('a service whose threads cannot read is not ready', async (t) => {
  const service = await startThreads(t, { threads: 2, adminPort: 0 })
  const db = new Sqlite(service.database)
  t.teardown(() => db.close())
  const ready = { method: 'GET', path: '/health/ready', token: null }
  while ((await service.call(ready)).status !== 200);
  db.exec('ALTER TABLE plants RENAME TO missing')
  let answer = await service.call(ready)
  // A check that has succeeded counts for a moment.
  while (answer.status === 200) answer = await service.call(ready)
  t.match(answer, { status: 503, json: { error: 50303 } })
  const readyForOperators = () => fetch(`${service.adminUrl}/health/ready`)
  while ((await readyForOperators()).ok);
  t.equal((await readyForOperators()).status, 503)
})

t.test('if a thread cannot be built, all threads end and the start fails', async (t) => {
  const config = {
    ...defaultConfig(),
    database: join(makeFolder(t, inMemory()), 'plants.db'),
    tlsCertificate: '/missing/cert.pem',
    tlsKey: '/missing/key.pem',
  }
  const store = await openStore(config)
  const links = store.share(2) as StoreLink[]
  const readKeys = async () => ({ json: undefined, isNew: true, retryAfterMs: 0 })
  const parts = { config, contract: loadContract(), hiddenFields: [], links, readKeys }
  await t.rejects(prepareHttpThreads(parts), { message: /cannot read \/missing\/cert.pem/ })
  // It would wait for threads that still use it.
  await store.close()
})

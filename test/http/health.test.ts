import t from 'tap'
import { StoreUnavailable } from '../../service/plant-store.ts'
import { restrict } from '../../service/restriction.ts'
import { openStore } from '../../src/stores/engines.ts'
import { BEGUN, CONSISTENT, makeMirror } from '../helpers/mirrors.ts'
import { startService } from '../helpers/service.ts'
import { startThreads } from '../helpers/threads.ts'

t.test('health checks need no token', async (t) => {
  const service = await startService(t)
  for (const [path, status] of [
    ['/health/live', 'live'],
    ['/health/ready', 'ready'],
  ]) {
    const answer = await service.call({ method: 'GET', path: path as string, token: null })
    t.equal(answer.status, 200)
    t.equal(answer.headers['content-type'], 'application/json')
    t.same(answer.json, { status })
  }
})

t.test('a service whose store fails is live but not ready', async (t) => {
  const ping = () => Promise.reject(new StoreUnavailable('failing', 'SQLITE_IOERR'))
  const service = await startService(t, { instead: { ping } })
  const ready = await service.call({ method: 'GET', path: '/health/ready', token: null })
  t.equal(ready.status, 503)
  t.match(ready.json, { error: 50302 })
  const live = await service.call({ method: 'GET', path: '/health/live', token: null })
  t.equal(live.status, 200)
})

t.test('a mirror is ready on both ports once it is consistent', async (t) => {
  const service = await startThreads(t, { threads: 1, adminPort: 0 })
  const { url, adminUrl, database } = service
  const store = await openStore({ database, lockTimeout: 30_000, sameThread: true })
  t.teardown(() => store.close())
  const statuses = () =>
    Promise.all([url, adminUrl].map(async (each) => (await fetch(`${each}/health/ready`)).status))
  await makeMirror(store, BEGUN)
  t.same(await statuses(), [503, 503])
  await restrict(store, { expected: BEGUN, next: CONSISTENT })
  t.same(await statuses(), [200, 200])
})

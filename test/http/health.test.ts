import t from 'tap'
import { StoreUnavailable } from '../../service/plant-store.ts'
import { startService } from '../helpers/service.ts'

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

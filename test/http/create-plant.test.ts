import t from 'tap'
import { startService } from '../helpers/service.ts'

t.test('a new plant is answered as a Plant, without its id', async (t) => {
  const service = await startService(t)
  const answer = await service.call({ body: { id: 4n, name: 'Abies alba Mill.', tag: 'Tree' } })
  t.equal(answer.status, 200)
  t.same(answer.json, { name: 'Abies alba Mill.', tag: 'Tree' })
  t.same(service.plants(), [{ id: 4n, name: 'Abies alba Mill.', tag: 'Tree' }])
})

/** GET /plants?count=true: how many plants match. */

import t from 'tap'
import { SEARCH_MAX, type StoredPlant } from '../../../service/plant-store.ts'
import { importPlants } from '../../../src/transfer/import.ts'
import { type Service, startService } from '../../helpers/service.ts'

const PLANTS: StoredPlant[] = Array.from({ length: 30 }, (_, index) => ({
  id: BigInt(index),
  name: index % 2 === 0 ? 'Abies' : 'Acer',
  ...(index < 20 && { tag: 'Tree' }),
}))

let service: Service
t.before(async () => {
  service = await startService(t)
  await importPlants(service.store, PLANTS, 'stop')
})

const list = (query: string, method = 'GET') => service.call({ method, path: `/plants${query}` })

for (const [query, count] of [
  ['', 30],
  ['&tag=Tree', 20],
  ['&untagged=true', 10],
  ['&q=abi&untagged=true', 5],
] as const) {
  t.test(`the count of ?limit=5${query} is that of all pages`, async (t) => {
    const page = await list(`?limit=5${query}`)
    t.equal(page.headers['plant-count'], undefined, 'not counted without count')
    for (const method of ['GET', 'HEAD']) {
      const { status, headers, body } = await list(`?limit=5${query}&count=true`, method)
      t.equal(status, 200)
      t.equal(headers['plant-count'], `${count}`)
      t.equal(body, method === 'GET' ? page.body : '')
    }
  })
}

t.test('the next page is counted too', async (t) => {
  const { headers } = await list('?count=true&tag=Tree&limit=5')
  t.equal(headers.link, '<?count=true&tag=Tree&limit=5&after=4>; rel="next"')
})

t.test('a count that cannot examine all plants is a lower bound', async (t) => {
  const other = await startService(t)
  const many = Array.from({ length: SEARCH_MAX.plants + 1 }, (_, id) => ({
    id: BigInt(id),
    name: id % 4 === 0 ? 'Abies' : 'x',
  }))
  await importPlants(other.store, many, 'stop')
  const path = '/plants?q=abies&limit=1&count=true'
  const { headers } = await other.call({ method: 'GET', path })
  t.equal(headers['plant-count'], `${SEARCH_MAX.plants / 4};at-least`)
})

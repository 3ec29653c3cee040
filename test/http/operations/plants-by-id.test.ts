/** GET /plants?id: plants by their ids. */

import t from 'tap'
import type { StoredPlant } from '../../../service/plant-store.ts'
import { importPlants } from '../../../src/transfer/import.ts'
import { type Service, startService } from '../../helpers/service.ts'

const MIN = -(2n ** 63n)
const MAX = 2n ** 63n - 1n
const IDS = [MIN, -1n, 0n, 4n, 2n ** 53n + 1n, MAX]
const PLANTS = IDS.map((id) => ({ id, name: `plant ${id}` }))

let service: Service
t.before(async () => {
  service = await startService(t)
  await importPlants(service.store, PLANTS, 'stop')
})

const list = async (query: string) => {
  const answer = await service.call({ method: 'GET', path: `/plants?${query}` })
  return { ...answer, plants: answer.json as StoredPlant[] }
}

const byIds = (ids: readonly unknown[]) => ids.map((id) => `id=${id}`).join('&')

for (const [query, found] of [
  ['id=4&id=0&id=4&id=7', [0n, 4n]],
  ['id=4&id=0&id=-1&after=-1', [0n, 4n]],
  ['id=4&id=0&limit=1', [0n, 4n]],
  ['%69d=4', [4n]],
] as const) {
  t.test(`?${query.slice(0, 30)} finds ${found.length} plants`, async (t) => {
    const { status, plants, headers } = await list(query)
    t.equal(status, 200)
    t.strictSame(
      plants,
      PLANTS.filter(({ id }) => (found as readonly bigint[]).includes(id)),
    )
    t.equal(headers.link, undefined)
  })
}

t.test('200 plants with long ids are found at once', async (t) => {
  const ids = Array.from({ length: 200 }, (_, index) => MIN + 1000n + BigInt(index))
  await importPlants(
    service.store,
    ids.map((id) => ({ id, name: 'x' })),
    'stop',
  )
  const { plants } = await list(byIds(ids))
  t.strictSame(
    plants.map(({ id }) => id),
    ids,
  )
})

t.test('a page of very large plants ends early, and its link can be followed', async (t) => {
  const plants = [1001n, 1002n, 1003n].map((id) => ({ id, name: 'x'.repeat(2 ** 19) }))
  await importPlants(service.store, plants, 'stop')
  const first = await list('id=1003&id=1001&id=1002&id=1004')
  t.strictSame(first.plants, plants.slice(0, 2))
  const link = '<?id=1003&id=1001&id=1002&id=1004&limit=100&after=1002>; rel="next"'
  t.equal(first.headers.link, link)
  const last = await list(link.slice(2, link.indexOf('>')))
  t.strictSame(last.plants, plants.slice(2))
  t.equal(last.headers.link, undefined)
})

/** GET /plants?q: plants whose name contains a text. */

import t from 'tap'
import { SEARCH_MAX, type StoredPlant } from '../../../service/plant-store.ts'
import { importPlants } from '../../../src/transfer/import.ts'
import { type Service, startService } from '../../helpers/service.ts'

const NAMES = [
  'Abies alba Mill.',
  'Acer rubrum L.',
  'Picea abies',
  '100% _wild_ \\',
  'Tannenb\u00e4um&c=d+e',
]
const PLANTS: StoredPlant[] = NAMES.map((name, index) => ({
  id: BigInt(index),
  name,
  ...(index !== 1 && { tag: 'Tree' }),
}))

let service: Service
t.before(async () => {
  service = await startService(t)
  await importPlants(service.store, PLANTS, 'stop')
})

const list = async (query: string, from: Service = service) => {
  const answer = await from.call({ method: 'GET', path: `/plants?${query}` })
  return { ...answer, plants: answer.json as StoredPlant[] }
}

const search = (text: string) => list(`q=${encodeURIComponent(text)}`)

for (const [text, indexes] of [
  ['abies', [0, 2]],
  ['b\u00e4u', [4]],
  ['b\u00e4um&c=d+e', [4]],
] as const) {
  t.test(`${JSON.stringify(text)} is found`, async (t) => {
    const { plants, headers } = await search(text)
    t.strictSame(
      plants,
      indexes.map((index) => PLANTS[index]),
    )
    t.equal(headers.link, undefined)
  })
}

t.test('a search can be combined with a tag, and has pages', async (t) => {
  t.strictSame(
    (await list('q=a&tag=Tree')).plants.map(({ id }) => id),
    [0n, 2n, 4n],
  )
  const { plants, headers } = await list('q=a&tag=Tree&limit=2')
  t.strictSame(
    plants.map(({ id }) => id),
    [0n, 2n],
  )
  t.equal(headers.link, '<?q=a&tag=Tree&limit=2&after=2>; rel="next"')
  t.strictSame(
    (await list('q=a&tag=Tree&limit=2&after=2')).plants.map(({ id }) => id),
    [4n],
  )
})

t.test('a page without plants can have a next one', async (t) => {
  const first = 2n ** 40n
  const others = Array.from({ length: SEARCH_MAX.plants }, (_, index) => ({
    id: first + BigInt(index),
    name: 'x',
  }))
  const last = { id: first * 2n, name: 'Rare' }
  await importPlants(service.store, [...others, last], 'stop')
  const { plants, headers } = await list(`q=rare&after=${first - 1n}`)
  t.strictSame(plants, [])
  const next = /^<\?(.*)>/.exec(headers.link ?? '')?.[1] ?? ''
  t.strictSame((await list(next)).plants, [last])
})

/** GET /plants: pages of plants, and the `Link` to the next page. */

import t from 'tap'
import type { StoredPlant } from '../../../service/plant-store.ts'
import { importPlants } from '../../../src/transfer/import.ts'
import { type Service, startService } from '../../helpers/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

/** Each test uses its own tags, so it does not see the plants of other tests. */
const store = async (tag: string, ids: readonly bigint[]): Promise<StoredPlant[]> => {
  const plants = ids.map((id) => ({ id, name: `${tag} ${id}`.slice(0, 30), tag }))
  await importPlants(service.store, plants, 'stop')
  return plants
}

const list = async (query: string) => {
  const answer = await service.call({ method: 'GET', path: `/plants${query}` })
  return { ...answer, plants: answer.json as StoredPlant[] }
}

/** The query of the next page, resolved like a client that reaches the service through a proxy. */
const nextOf = (link: string | undefined, query: string): string | undefined => {
  if (link === undefined) return undefined
  const reference = /^<(.*)>; rel="next"$/.exec(link)?.[1] ?? ''
  const url = new URL(reference, `https://host/prefix/plants${query}`)
  if (url.origin !== 'https://host' || url.pathname !== '/prefix/plants') {
    throw new Error(`the link leads to ${url}`)
  }
  return url.search
}

/** Returns the plants of a page and all that follow it. */
const walk = async (start: string): Promise<StoredPlant[][]> => {
  const pages: StoredPlant[][] = []
  let query: string | undefined = start
  while (query !== undefined) {
    const { plants, headers }: Awaited<ReturnType<typeof list>> = await list(query)
    pages.push(plants)
    query = nextOf(headers.link, query)
  }
  return pages
}

const byTag = (tag: string) => `?tag=${encodeURIComponent(tag)}`

t.test('an empty store has one empty page', async (t) => {
  const answer = await list('')
  t.equal(answer.status, 200)
  t.equal(answer.body, '[]')
  t.equal(answer.headers.link, undefined)
})

t.test('a page has 100 plants by default and at most 1000', async (t) => {
  const ids = Array.from({ length: 1001 }, (_, index) => 100_000n + BigInt(index))
  await store('many', ids)
  t.equal((await list('?tag=many')).plants.length, 100)
  t.equal((await list('?tag=many&limit=1000')).plants.length, 1000)
  t.same(
    (await walk('?tag=many')).map(({ length }) => length),
    [...Array(10).fill(100), 1],
  )
})

const TAGS = [
  ...['a&b=c', 'a+b', 'a b', ' ', '#1', '100%', '%41', '"', "'", '<>', '>; rel="x"', '?/:@', '\\'],
  ...['🌱', 'é', 'e\u0301', '\n', ',;', '__proto__', '', 'x'.repeat(1000), '🌱'.repeat(1000)],
]
for (const [index, tag] of TAGS.entries()) {
  const title = JSON.stringify(tag.slice(0, 20))
  t.test(`the tag ${title} survives the query and the link`, async (t) => {
    const first = 400_000n + 2n * BigInt(index)
    const plants = await store(tag, [first, first + 1n])
    t.same(
      await walk(`${byTag(tag)}&limit=1`),
      plants.map((plant) => [plant]),
    )
  })
}

t.test('pages of very large plants are shorter than the limit', async (t) => {
  // Two of them fit on a page, three do not.
  const name = 'x'.repeat(0.4 * 2 ** 20)
  const plants = [1n, 2n, 3n, 4n].map((id) => ({ id: 600_000n + id, name, tag: 'large' }))
  await importPlants(service.store, plants, 'stop')
  const pages = await walk('?tag=large')
  t.same(
    pages.map((page) => page.map(({ id }) => id)),
    [[600_001n, 600_002n, 600_003n], [600_004n]],
  )
})

t.test('a link encodes only what a query cannot contain (RFC 3986 §3.4)', async (t) => {
  const tag = 'a-z.0_9~!$\'()*,;=:@/? &+#%"<>'
  await store(tag, [450_001n, 450_002n])
  const { headers } = await list(`${byTag(tag)}&limit=1`)
  const expected = "tag=a-z.0_9~!$'()*,;=:@/?+%26%2B%23%25%22%3C%3E"
  t.equal(headers.link, `<?${expected}&limit=1&after=450001>; rel="next"`)
})

t.test('the link of the longest tag can be followed', async (t) => {
  const tag = '🌲'.repeat(1000)
  await store(tag, [450_011n, 450_012n])
  const query = `${byTag(tag)}&limit=1`
  const { headers } = await list(query)
  const { plants } = await list(nextOf(headers.link, query) ?? '')
  t.strictSame(
    plants.map(({ id }) => id),
    [450_012n],
  )
})

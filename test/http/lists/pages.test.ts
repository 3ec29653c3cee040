/** Pages of plants and tags, the `Link` to the next one, searches, counts, and plants by their ids. */
import t from 'tap'
import { READS_MAX } from '../../../service/read-jobs.ts'
import { PAGE_TEXT_MAX, SEARCH_MAX, type StoredPlant } from '../../../service/store/plant-store.ts'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { type Service, startService } from '../../helpers/service/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const store = (plants: readonly StoredPlant[], to = service) =>
  importPlants(to.store, plants, 'stop')

/** Stores plants with a tag, so that a test does not see those of others, and returns them. */
const storeTagged = async (tag: string, ids: readonly bigint[], name = 'x') => {
  const plants = ids.map((id) => ({ id, name, tag }))
  await store(plants)
  return plants
}

/** Reads a page of plants, by default, or of tags. */
const read = async (query: string, path = '/plants', from = service) => {
  const { status, headers, json, body } = await from.call({ method: 'GET', path: path + query })
  return { status, headers, body, page: json as unknown[], ids: idsOf(json) }
}

const idsOf = (json: unknown) => (json as StoredPlant[]).map?.(({ id }) => id)

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

/** Reads a page and all that follow it. */
const walk = async (start: string, path = '/plants'): Promise<unknown[][]> => {
  const pages: unknown[][] = []
  let query: string | undefined = start
  while (query !== undefined) {
    const { page, headers }: Awaited<ReturnType<typeof read>> = await read(query, path)
    pages.push(page)
    query = nextOf(headers.link, query)
  }
  return pages
}

const byTag = (tag: string) => `?tag=${encodeURIComponent(tag)}`

t.test('an empty store has one empty page', async (t) => {
  for (const path of ['/plants', '/tags']) {
    const { status, body, headers } = await read('', path)
    t.match({ status, body, link: headers.link }, { status: 200, body: '[]', link: undefined })
  }
})

t.test('a page has 100 plants by default and at most 1000', async (t) => {
  await storeTagged(
    'many',
    Array.from({ length: 1001 }, (_, index) => 100_000n + BigInt(index)),
  )
  t.equal((await read('?tag=many')).page.length, 100)
  t.same(
    (await walk('?tag=many&limit=1000')).map(({ length }) => length),
    [1000, 1],
  )
})

const TAGS = [
  ...['a&b=c', 'a+b', 'a b', ' ', '#1', '100%', '%41', '"', "'", '<>', '>; rel="x"', '?/:@', '\\'],
  ...['🌱', 'é', 'e\u0301', '\n', ',;', '__proto__', '', 'x'.repeat(1000), '🌱'.repeat(1000)],
]

t.test('any tag survives the query and the link, and is listed once', async (t) => {
  for (const [index, tag] of TAGS.entries()) {
    const first = 400_000n + 2n * BigInt(index)
    const plants = await storeTagged(tag, [first, first + 1n])
    const pages = plants.map((plant) => [plant])
    t.same(await walk(`${byTag(tag)}&limit=1`), pages, JSON.stringify(tag.slice(0, 20)))
  }
  const all = (await walk('?limit=1000', '/tags')).flat()
  t.strictSame(all.toSorted(), ['many', ...TAGS].toSorted())
  for (const limit of [1, 8, all.length]) {
    const pages = await walk(`?limit=${limit}`, '/tags')
    t.strictSame(pages.flat(), all)
    t.equal(pages.length, Math.ceil(all.length / limit))
  }
  await storeTagged('too long for the parameter tag'.repeat(100), [499_999n])
  for (const limit of [1, 100]) {
    t.strictSame((await walk(`?limit=${limit}`, '/tags')).flat(), all, 'a long tag is omitted')
  }
})

t.test('a link encodes only what a query cannot contain (RFC 3986 §3.4)', async (t) => {
  const tag = 'a-z.0_9~!$\'()*,;=:@/? &+#%"<>'
  await storeTagged(tag, [450_001n, 450_002n])
  const { headers } = await read(`${byTag(tag)}&limit=1`)
  const expected = "tag=a-z.0_9~!$'()*,;=:@/?+%26%2B%23%25%22%3C%3E"
  t.equal(headers.link, `<?${expected}&limit=1&after=450001>; rel="next"`)
})

t.test('pages of very large plants are shorter than the limit', async (t) => {
  // Two of them fit on a page, three do not.
  const ids = [600_001n, 600_002n, 600_003n, 600_004n]
  await storeTagged('large', ids, 'x'.repeat(0.4 * PAGE_TEXT_MAX))
  t.same((await walk('?tag=large')).map(idsOf), [ids.slice(0, 2), ids.slice(2)])
  const byId = '?id=600003&id=600001&id=600002&id=600004&id=600005'
  const { ids: found, headers } = await read(byId)
  t.same(found, ids.slice(0, 2))
  t.equal(headers.link, `<${byId}&limit=100&after=600002>; rel="next"`)
  t.same((await walk(byId)).map(idsOf), [ids.slice(0, 2), ids.slice(2)])
})

const MIN = -(2n ** 63n)
const EXTREMES = [MIN, -1n, 2n ** 53n + 1n, 2n ** 63n - 1n]

t.test('plants are found by their ids', async (t) => {
  await store(EXTREMES.map((id) => ({ id, name: 'extreme' })))
  for (const [query, found] of [
    [`?id=${EXTREMES.join('&id=')}`, EXTREMES],
    [`?id=${MIN}&id=-1&id=${MIN}&id=7`, [MIN, -1n]],
    [`?id=${MIN}&id=-1&after=-2`, [-1n]],
    [`?id=${MIN}&id=-1&limit=1`, [MIN, -1n]],
    ['?%69d=-1', [-1n]],
  ] as const) {
    const { ids, headers } = await read(query)
    t.strictSame(ids, found, query)
    t.equal(headers.link, undefined)
  }
  const many = Array.from({ length: 200 }, (_, index) => MIN + 1000n + BigInt(index))
  await store(many.map((id) => ({ id, name: 'x' })))
  t.strictSame((await read(`?id=${many.join('&id=')}`)).ids, many)
})

/** A service with 30 plants, of which 15 are Abies, 20 have a tag, and the last has another name. */
async function startSmall(): Promise<Service> {
  const small = await startService(t)
  const plants = Array.from({ length: 30 }, (_, index) => ({
    id: BigInt(index),
    name: index % 2 === 0 ? 'Abies' : index === 29 ? 'Tannenbäum&c=d+e' : 'Acer',
    ...(index < 20 && { tag: 'Tree' }),
  }))
  await store(plants, small)
  return small
}

t.test('searches and counts can be combined with tags, and have pages', async (t) => {
  const small = await startSmall()
  for (const [query, count, found] of [
    ['limit=2', 30, [0n, 1n]],
    ['tag=Tree&limit=2', 20, [0n, 1n]],
    ['untagged=true&limit=2', 10, [20n, 21n]],
    ['q=BIE&untagged=true&limit=2', 5, [20n, 22n]],
    ['q=abi&tag=Tree&limit=2', 10, [0n, 2n]],
    [`q=${encodeURIComponent('bäum&c=d+e')}&limit=2`, 1, [29n]],
  ] as const) {
    const page = await read(`?${query}`, '/plants', small)
    t.same(page.ids, found)
    t.equal(page.headers['plant-count'], undefined, 'not counted without count')
    for (const method of ['GET', 'HEAD']) {
      const path = `/plants?count=true&${query}`
      const { status, headers, body } = await small.call({ method, path })
      t.match({ status, count: headers['plant-count'] }, { status: 200, count: `${count}` })
      t.equal(body, method === 'GET' ? page.body : '')
      const link = count > 2 ? `<?count=true&${query}&after=${found[1]}>; rel="next"` : undefined
      t.equal(headers.link, link, 'the next page is counted, too')
    }
  }
})

t.test('a search that cannot examine all plants is continued, and counted at least', async (t) => {
  const large = await startService(t)
  const examined = READS_MAX * SEARCH_MAX.plants
  const many = Array.from({ length: examined + 1 }, (_, id) => ({
    id: BigInt(id),
    name: id === examined ? 'Rare' : id % 4 === 0 ? 'Abies' : 'x',
  }))
  await store(many, large)
  const path = '/plants?q=abies&limit=1&count=true'
  const { headers } = await large.call({ method: 'GET', path })
  t.equal(headers['plant-count'], `${examined / 4};at-least`)
  const first = await read('?q=rare', '/plants', large)
  t.strictSame(first.page, [])
  const next = nextOf(first.headers.link, '?q=rare') ?? ''
  t.strictSame((await read(next, '/plants', large)).page, many.slice(-1))
})

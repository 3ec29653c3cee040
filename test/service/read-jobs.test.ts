import t from 'tap'
import {
  countPlants,
  listSorted,
  listTags,
  READS_MAX,
  searchPlants,
} from '../../service/read-jobs.ts'
import type { InTurn } from '../../service/read-queue.ts'
import {
  COUNT_MAX,
  type CountRequest,
  PAGE_TEXT_MAX,
  type PageRequest,
  type SearchRequest,
  type StoredPlant,
  type TagsRequest,
} from '../../service/store/plant-store.ts'
import { pageWith, plantsIn } from '../stores/plants.ts'

const atOnce: InTurn = (read) => read()

/** A store whose reads of a search examine ten plants, each of which matches if its id is in `matching`. */
function storeWith(matching: readonly StoredPlant[], last: bigint) {
  const reads: (PageRequest | SearchRequest)[] = []
  const list = async (request: PageRequest | SearchRequest) => {
    reads.push(request)
    const from = request.after ?? -1n
    const found = matching.filter(({ id }) => id > from && id <= from + 10n)
    const plants = found.slice(0, request.limit)
    const isLimited = plants.length < found.length
    const end = from + 10n >= last ? undefined : from + 10n
    return pageWith(plants, isLimited ? plants.at(-1)?.id : end)
  }
  return { store: { list }, reads }
}

const plants = (...ids: number[]) => ids.map((id) => ({ id: BigInt(id), name: 'Abies' }))

t.test('a search continues until its page is full', async (t) => {
  const { store, reads } = storeWith(plants(3, 15, 16, 17), 100n)
  const page = await searchPlants(store, { words: ['a'], limit: 3 }, atOnce)
  t.strictSame(plantsIn(page), plants(3, 15, 16))
  t.equal(page.next, 16n)
  t.same(
    reads.map(({ after, limit }) => ({ after, limit })),
    [
      { after: undefined, limit: 3 },
      { after: 9n, limit: 2 },
    ],
  )
})

t.test('a search ends with the last plant', async (t) => {
  const { store } = storeWith(plants(3, 25), 25n)
  t.strictSame(
    await searchPlants(store, { words: ['a'], limit: 3 }, atOnce),
    pageWith(plants(3, 25)),
  )
})

t.test('a search makes a limited number of reads', async (t) => {
  const { store, reads } = storeWith(plants(1), 1000n)
  const page = await searchPlants(store, { words: ['a'], limit: 3, after: 1n }, atOnce)
  t.strictSame(page, pageWith([], 51n))
  t.equal(reads.length, READS_MAX)
})

t.test('a search ends once it has found much text', async (t) => {
  const large = [{ id: 3n, name: 'x'.repeat(PAGE_TEXT_MAX) }]
  const { store, reads } = storeWith(large, 1000n)
  t.strictSame(await searchPlants(store, { words: ['x'], limit: 3 }, atOnce), pageWith(large, 9n))
  t.equal(reads.length, 1)
})

t.test(
  'an index that is behind is completed before it is read, a limited number of times',
  async (t) => {
    for (const behind of [0, 1, READS_MAX - 1, READS_MAX]) {
      let left = behind
      const store = {
        listSorted: async () => (left > 0 ? ('behind' as const) : pageWith(plants(2, 1))),
        indexPlants: async () => --left > 0,
      }
      const page = await listSorted(store as never, { limit: 9 } as never, atOnce)
      t.strictSame(page, behind < READS_MAX ? pageWith(plants(2, 1)) : undefined)
    }
  },
)

t.test('a count adds up a limited number of reads', async (t) => {
  for (const [reads, rest, expected] of [
    [3, [], { plants: 3, isExact: true }],
    [READS_MAX, [], { plants: READS_MAX, isExact: true }],
    [READS_MAX + 1, [], { plants: READS_MAX, isExact: true }],
    [READS_MAX + 1, plants(1), { plants: READS_MAX, isExact: false }],
  ] as const) {
    const afters: (bigint | undefined)[] = []
    const count = async ({ after }: CountRequest) => {
      const next = BigInt(afters.push(after) * COUNT_MAX)
      return { found: 1, next: afters.length === reads ? undefined : next }
    }
    const list = async ({ after }: { readonly after?: bigint | undefined }) => {
      t.equal(after, BigInt(READS_MAX * COUNT_MAX))
      return pageWith(rest)
    }
    t.strictSame(await countPlants({ count, list }, {}, atOnce), expected)
    t.strictSame(afters.slice(0, 2), [undefined, BigInt(COUNT_MAX)])
  }
})

t.test('tags are read a few at a time', async (t) => {
  const requests: TagsRequest[] = []
  const read = async (request: TagsRequest) => {
    const tags = Array.from({ length: request.limit }, (_, index) => `${index}`)
    return { tags, next: `cursor ${requests.push(request)}` }
  }
  const page = await listTags({ listTags: read }, { limit: 1000 }, atOnce)
  t.strictSame(page, {
    tags: Array.from({ length: 1000 }, (_, index) => `${index % 250}`),
    next: 'cursor 4',
  })
  t.equal(requests[3]?.after, 'cursor 3')
  const none = async () => ({ tags: [], next: `cursor ${requests.push({ limit: 1 })}` })
  t.strictSame(await listTags({ listTags: none }, { limit: 10 }, atOnce), {
    tags: [],
    next: 'cursor 9',
  })
  const malformed = async () => 'malformed' as const
  t.equal(await listTags({ listTags: malformed }, { limit: 1, after: 'x' }, atOnce), 'malformed')
})

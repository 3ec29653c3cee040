/** Reads that examine many plants: loops of short reads of a store, between which others are served. */

import type { PlantCount } from '../core/contract/operation-types.ts'
import { known } from '../core/known.ts'
import type { InTurn } from './read-queue.ts'
import { type PlantFilter, readsText } from './store/plant-filter.ts'
import {
  PAGE_TEXT_MAX,
  type PlantPage,
  type PlantStore,
  type SearchRequest,
  type SortedPage,
  type SortedRequest,
  type TagPage,
  type TagsRequest,
} from './store/plant-store.ts'

/** How many reads a job makes at most: enough to search 20,000 plants, and to count 100,000. */
export const READS_MAX = 5

/** How many tags to read at once. */
const TAGS_MAX = 250

/** A page of the plants that match, found by several reads, each at its own moment. `next` can be a plant that does not match. */
export async function searchPlants(
  store: Pick<PlantStore, 'list'>,
  request: SearchRequest,
  inTurn: InTurn,
): Promise<PlantPage> {
  const page = await joinPages(request, (part) => inTurn(() => store.list({ ...request, ...part })))
  return known(page)
}

/** Like `searchPlants`, in the order of an index. Undefined if the index does not have all plants. */
export function listSorted(
  store: Pick<PlantStore, 'listSorted' | 'indexPlants'>,
  request: SortedRequest,
  inTurn: InTurn,
): Promise<SortedPage | undefined> {
  return joinPages(request, async (part) => {
    for (let reads = 1; reads <= READS_MAX; reads++) {
      const page = await inTurn(() => store.listSorted({ ...request, ...part }))
      if (page === 'incomplete') return undefined
      if (page !== 'behind') return page
      await store.indexPlants()
    }
    return undefined
  })
}

/** A part of the pages of a job. */
interface Part<Place> {
  readonly after: Place | undefined
  readonly limit: number
}

type PageOf<Place> = Omit<PlantPage, 'next'> & { readonly next: Place | undefined }

/** Joins the pages that several reads return, until they are a page. Undefined if a read has none. */
async function joinPages<Place>(
  request: { readonly after?: Place | undefined; readonly limit: number },
  read: (part: Part<Place>) => Promise<PageOf<Place> | undefined>,
): Promise<PageOf<Place> | undefined> {
  const parts: string[] = []
  let { after } = request
  let found = 0
  let text = 0
  for (let reads = 1; ; reads++) {
    const page = await read({ after, limit: request.limit - found })
    if (page === undefined) return undefined
    if (page.found > 0) parts.push(page.json.slice(1, -1))
    found += page.found
    text += page.json.length
    after = page.next
    const isFull = found === request.limit || text >= PAGE_TEXT_MAX
    if (after === undefined || isFull || reads === READS_MAX) {
      return { json: `[${parts.join()}]` as PlantPage['json'], found, next: after }
    }
  }
}

/** Counts the plants that match, by several reads, each at its own moment. */
export async function countPlants(
  store: Pick<PlantStore, 'count' | 'list'>,
  filter: PlantFilter,
  inTurn: InTurn,
): Promise<PlantCount> {
  let plants = 0
  let after: bigint | undefined
  for (let reads = 1; ; reads++) {
    const from = after
    const { found, next } = await inTurn(() => store.count({ ...filter, after: from }))
    plants += found
    after = next
    if (next === undefined) return { plants, isExact: true }
    if (reads === READS_MAX) {
      // A search would examine more than a job should.
      if (readsText(filter)) return { plants, isExact: false }
      const rest = await inTurn(() => store.list({ ...filter, after: next, limit: 1 }))
      return { plants, isExact: rest.found === 0 && rest.next === undefined }
    }
  }
}

/** A page of tags, found by several reads, each at its own moment. */
export async function listTags(
  store: Pick<PlantStore, 'listTags'>,
  { after, limit }: TagsRequest,
  inTurn: InTurn,
): Promise<TagPage | 'malformed'> {
  const tags: string[] = []
  let next = after
  for (let reads = 1; ; reads++) {
    const request = { after: next, limit: Math.min(limit - tags.length, TAGS_MAX) }
    const page = await inTurn(() => store.listTags(request))
    if (page === 'malformed') return page
    tags.push(...page.tags)
    next = page.next
    if (next === undefined || tags.length === limit || reads === READS_MAX) return { tags, next }
  }
}

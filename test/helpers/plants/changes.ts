/** Reads and replays changes over HTTP. */
import type { Change } from '../../../service/store/change-feed.ts'
import { encodeCursor, FEED_ID_BYTES } from '../../../src/stores/shared/cursor.ts'
import type { Caller } from '../service/service.ts'

export { replay } from '../../stores/feed-reads.ts'

/** A cursor of another log, which is answered like an expired one. */
export const EXPIRED = encodeCursor({ feedId: new Uint8Array(FEED_ID_BYTES), position: 1n, at: 0 })

/** Reads a page of changes. */
export async function readPage(service: Caller, query = '') {
  const answer = await service.call({ method: 'GET', path: `/changes${query}` })
  return { ...answer, changes: answer.json as Change[] }
}

/** The query of the next page. */
export function nextQuery(headers: { readonly link?: string | undefined }): string {
  const [, query] = /^<(\?[^>]*)>; rel="next"$/.exec(headers.link ?? '') ?? []
  if (query === undefined) throw new Error(`the link is ${headers.link}`)
  return query
}

/** The cursor after the last change. */
export async function latestCursor(service: Caller): Promise<string> {
  const { headers } = await readPage(service, '?after=latest')
  return cursorOf(nextQuery(headers))
}

/** The cursor in a query. */
export function cursorOf(query: string): string {
  return new URLSearchParams(query).get('after') as string
}

/** Reads all pages until one is empty. */
export async function readAllChanges(service: Caller, start: string): Promise<Change[]> {
  const all: Change[] = []
  let query = start
  for (;;) {
    const { changes, headers } = await readPage(service, query)
    if (changes.length === 0) return all
    all.push(...changes)
    query = nextQuery(headers)
  }
}

/** A change without what differs in each run. */
export function contentOf({ type, id, plant }: Change) {
  return plant === undefined ? { type, id } : { type, id, plant }
}

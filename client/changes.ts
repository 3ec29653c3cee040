import { listChangesLimits } from '../core/generated/limits.gen.ts'
import type { Change, Plant } from './plants.ts'
import { buildRequest } from './requests.ts'
import { type ApiResponse, areChanges, readNextQuery, readPlants, toError } from './responses.ts'
import type { WaitOptions } from './retry.ts'
import type { CallOptions, Transport } from './transport.ts'
import type { ChangePage, ChangeQuery, FollowOptions } from './types.ts'

/** How long each request waits for changes. Proxies commonly close a connection after a minute without a response. */
const WAIT_SECONDS = 30

const PAGE_SIZE = listChangesLimits.limit.maximum

/** Fetches a page of changes. */
export function fetchChanges<P extends Plant>(
  transport: Transport,
  { wait = 0, ...query }: ChangeQuery,
  options?: CallOptions,
  isEndless = false,
): Promise<ChangePage<P>> {
  const waiting: WaitOptions = { waitMs: 1000 * wait, isEndless }
  return transport.call(
    buildRequest('get', '/changes', { query: wait === 0 ? query : { ...query, wait } }),
    (result) => {
      const changes = readPlants(result, areChanges<P>)
      const after = readCursor(result)
      const next = { ...query, after, wait }
      return { changes, cursor: after, next: (options) => fetchChanges(transport, next, options) }
    },
    options,
    waiting,
  )
}

/**
 * Follows changes by long polling. Changes arrive as soon as in a stream, and `fetch` and proxies need only wait for a
 * response.
 */
export async function* followChanges<P extends Plant>(
  transport: Transport,
  { after, pageSize: limit = PAGE_SIZE, ...options }: FollowOptions,
): AsyncGenerator<Change<P>, void, void> {
  const query = { ...(after !== undefined && { after }), limit }
  // Without a wait. If it failed while it waits after `latest`, its retry would miss changes.
  const first = await fetchChanges<P>(transport, query, options)
  yield* first.changes
  const pages = changePages(first.cursor, (after) =>
    fetchChanges<P>(transport, { after, limit, wait: WAIT_SECONDS }, options, true),
  )
  for (;;) {
    const { value } = await pages.next()
    yield* value.changes
  }
}

/**
 * Follows changes page by page. Pages without changes are yielded too. Each page is fetched once the caller has processed
 * the previous one. It ends only with an error of `fetchPage`.
 *
 * @param after the cursor after which to begin, or `latest`
 * @param fetchPage fetches the page after a cursor
 */
export async function* changePages<Page extends { readonly cursor: string }>(
  after: string,
  fetchPage: (after: string) => Promise<Page>,
): AsyncGenerator<Page, never, void> {
  let cursor = after
  for (;;) {
    const page = await fetchPage(cursor)
    yield page
    cursor = page.cursor
  }
}

/** @throws UnexpectedResponseError if the response has no cursor */
function readCursor(result: ApiResponse): string {
  const cursor = new URLSearchParams(readNextQuery(result)).get('after')
  if (cursor === null) throw toError(result)
  return cursor
}

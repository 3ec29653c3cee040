import { SignInError } from '../errors/sign-in-error.ts'
import { isEmpty, type ListQuery, withFilter } from '../list/filter.ts'
import type { LiveFeed } from '../list/live-feed.ts'
import { parseId } from '../list/plant-id.ts'
import type { PlantView } from '../list/plant-view.ts'
import { useModel } from '../model/use-model.ts'
import { formatCount, formatNumber } from '../text/intl.ts'

const FEED_TEXT = {
  connecting: 'Connecting…',
  live: 'Live',
  lost: 'Connection lost. Trying again…',
}

/** Says how many plants there are, where the list begins, and whether it is up to date; and leads elsewhere. */
export function StatusLine({
  view,
  onShow,
}: {
  readonly view: PlantView
  readonly onShow: (query: ListQuery) => void
}) {
  useModel(view)
  const { list, feed, news, query } = view
  const { filter } = list
  const searchedId = parseId(filter.q ?? '')
  return (
    <div class="summary row">
      <p role="status" aria-atomic="false">
        <span>{describePlants(view)}</span>
        <span>{describeStart(view)}</span>
        <span class="news">{news > 0 && `${formatNumber(news)} just changed`}</span>
        <span class={`feed-state ${feed.state}`}>{describeFeed(feed)}</span>
      </p>
      {searchedId !== undefined && (
        <button
          type="button"
          class="bare"
          onClick={() => onShow({ filter: {}, first: searchedId })}
        >
          Go to id {String(searchedId)}
        </button>
      )}
      {list.isCut && (
        <button type="button" class="bare" onClick={() => onShow(withFilter(query, filter))}>
          Show from the start
        </button>
      )}
      {!isEmpty(filter) && (
        <button type="button" class="bare" onClick={() => onShow(withFilter(query, {}))}>
          Show all plants
        </button>
      )}
    </div>
  )
}

function describePlants({ list, loader, isOpening, total }: PlantView): string {
  const { length, filter } = list
  if (total?.isExact) return formatCount(total.plants, 'plant')
  if (filter.q !== undefined && loader.isLoading) {
    return `Searching… ${formatNumber(length)} found so far`
  }
  if (total !== undefined) return `At least ${formatCount(total.plants, 'plant')}`
  if (isOpening) return 'Loading…'
  return length === 0 ? '' : `${formatCount(length, 'plant')} so far`
}

function describeStart({ list, query }: PlantView): string {
  const { first, filter } = list
  if (first === undefined) return ''
  const [plant] = list.slice(0, 1)
  const isMissing = first === query.first && plant !== undefined && plant.id !== first
  if (!isMissing) return `shown from id ${first}`
  const reason = isEmpty(filter) ? 'There is no plant' : 'No plant that matches has the id'
  return `${reason} ${first}. The next one is ${plant.id}.`
}

function describeFeed({ state, problem }: LiveFeed): string {
  return problem instanceof SignInError ? problem.message : FEED_TEXT[state]
}

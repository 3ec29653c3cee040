import { SignInError } from '../errors/sign-in-error.ts'
import { type Filter, isEmpty, type Selection, withFilter } from '../list/filter.ts'
import type { LiveFeed } from '../list/live-feed.ts'
import { parseId } from '../list/plant-id.ts'
import type { PlantView } from '../list/plant-view.ts'
import { IdRanges } from '../selection/id-ranges.ts'
import type { Task } from '../selection/task.ts'
import { formatCount, formatNumber } from '../text/numbers.ts'

const FEED_TEXT = {
  connecting: 'Connecting…',
  live: 'Live',
  lost: 'Connection lost. Trying again…',
}

/** Says how many plants there are, where the list begins, and whether it is up to date; and leads elsewhere. */
export function StatusLine({
  view,
  onSelect,
  onLast,
  onTask,
}: {
  readonly view: PlantView
  readonly onSelect: (selection: Selection) => void
  readonly onLast: () => void
  /** Undefined if the person cannot change plants. */
  readonly onTask: ((task: Task) => void) | undefined
}) {
  const { list, feed, news, total } = view
  const { selection } = view
  const { filter } = list
  const searchedId = parseId(filter.q ?? '')
  return (
    <div class="summary">
      <p role="status" aria-atomic="false">
        <span>{describePlants(view)}</span>
        <span>{describeStart(view)}</span>
        <span class="news">{news > 0 && `${formatNumber(news)} just changed`}</span>
        <span class={`feed-state ${feed.state}`}>{describeFeed(feed)}</span>
      </p>
      {searchedId !== undefined && (
        <button type="button" onClick={() => onSelect({ filter: {}, first: searchedId })}>
          Go to id {String(searchedId)}
        </button>
      )}
      {list.isCut && (
        <button type="button" onClick={() => onSelect(withFilter(selection, filter))}>
          Show from the start
        </button>
      )}
      {!list.isComplete && list.order.sort === undefined && total !== undefined && (
        <button type="button" onClick={onLast}>
          Show the last ones
        </button>
      )}
      {onTask && isTag(filter) && list.length > 0 && (
        <button
          type="button"
          onClick={() => onTask({ action: 'rename', filter, ranges: IdRanges.ALL })}
        >
          Rename this tag…
        </button>
      )}
      {!isEmpty(filter) && (
        <button type="button" onClick={() => onSelect(withFilter(selection, {}))}>
          Show all plants
        </button>
      )}
    </div>
  )
}

/** Whether a filter selects all plants with a tag. */
function isTag({ tag, ...others }: Filter): boolean {
  return tag !== undefined && isEmpty(others)
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

function describeStart({ list, selection }: PlantView): string {
  const { first, filter } = list
  if (first === undefined) return ''
  const [plant] = list.slice(0, 1)
  const isMissing = first === selection.first && plant !== undefined && plant.id !== first
  if (!isMissing) return `shown from id ${first}`
  const reason = isEmpty(filter) ? 'There is no plant' : 'No plant that matches has the id'
  return `${reason} ${first}. The next one is ${plant.id}.`
}

function describeFeed({ state, problem }: LiveFeed): string {
  return problem instanceof SignInError ? problem.message : FEED_TEXT[state]
}

import { explain } from '../errors/error-text.ts'
import type { Selection } from '../list/filter.ts'
import type { PlantView } from '../list/plant-view.ts'
import { formatCount, formatNumber } from '../text/numbers.ts'
import { FeedStatus } from './feed-status.tsx'

/** Says how many plants there are, where the list begins, and whether it is up to date. */
export function ListSummary({
  view,
  onSelect,
}: {
  readonly view: PlantView
  readonly onSelect: (selection: Selection) => void
}) {
  const { list, news, selection } = view
  const summary = summaryOf(view)
  return (
    <div class="summary">
      <FeedStatus state={view.feed.state} problem={view.feed.problem} />
      <span role="status">
        {summary}
        {summary && list.first !== undefined && `, from id ${list.first}`}
      </span>
      <span role="status" class="news">
        {news > 0 && `${formatNumber(news)} just changed`}
      </span>
      {list.first !== undefined && (
        <button type="button" onClick={() => onSelect({ filter: selection.filter })}>
          Show from the start
        </button>
      )}
    </div>
  )
}

function summaryOf({ list, loader, isOpening }: PlantView): string {
  const { length, isComplete, filter } = list
  if (isComplete) return formatCount(length, 'plant')
  if (filter.q !== undefined && loader.isLoading) {
    return `Searching… ${formatNumber(length)} found so far`
  }
  if (isOpening) return 'Loading…'
  return length === 0 ? '' : `${formatCount(length, 'plant')} so far`
}

/** What follows the last row: progress, an error, or what to do with an empty table. */
export function ListFooter({
  view,
  canWrite,
  onSelect,
}: {
  readonly view: PlantView
  readonly canWrite: boolean
  readonly onSelect: (selection: Selection) => void
}) {
  const { list, loader } = view
  if (loader.problem !== undefined) {
    return (
      <div class="empty">
        <p role="alert">{explain(loader.problem)}</p>
        <button type="button" onClick={() => loader.retry()}>
          Try again
        </button>
      </div>
    )
  }
  if (!list.isComplete) return <p class="loading">{loader.isLoading && 'Loading…'}</p>
  if (list.length > 0) return null
  const { tag, q } = list.filter
  if (tag === undefined && q === undefined && list.first === undefined) {
    return (
      <div class="empty">
        <img src="page/icon.svg" alt="" width="72" height="72" />
        <h2>No plants yet</h2>
        <p>
          {canWrite
            ? 'Add the first one, or import a file.'
            : 'As soon as somebody adds one, it appears here.'}
        </p>
      </div>
    )
  }
  if (list.first !== undefined) {
    return (
      <div class="empty">
        <h2>No plants from here on</h2>
        <p>All plants have a smaller id than {String(list.first)}.</p>
      </div>
    )
  }
  return (
    <div class="empty">
      <h2>No plant matches</h2>
      <p>Searches ignore the case of the letters A to Z only. Tags must match exactly.</p>
      <button type="button" onClick={() => onSelect({ filter: {} })}>
        Show all plants
      </button>
    </div>
  )
}

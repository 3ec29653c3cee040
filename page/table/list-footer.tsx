import { explain, isTransient } from '../errors/error-text.ts'
import { isEmpty } from '../list/filter.ts'
import type { PlantView } from '../list/plant-view.ts'
import { Icon } from '../text/icon.tsx'

/** What follows the last row: progress, an error, or what to do with an empty table. */
export function ListFooter({
  view: { list, loader },
  canWrite,
}: {
  readonly view: PlantView
  readonly canWrite: boolean
}) {
  if (loader.problem !== undefined) {
    return (
      <div class="empty stack">
        <Icon name={isTransient(loader.problem) ? 'offline' : 'error'} />
        <h2>The list cannot be shown</h2>
        <p role="alert">{explain(loader.problem)}</p>
        <button type="button" onClick={() => loader.retry()}>
          Try again
        </button>
      </div>
    )
  }
  if (!list.isComplete) {
    return (
      <p class={list.length === 0 ? 'loading opening' : 'loading'}>
        {loader.isLoading && 'Loading…'}
      </p>
    )
  }
  if (list.length > 0) return null
  if (list.first !== undefined) {
    return (
      <div class="empty stack">
        <Icon name="empty" />
        <h2>No plants from here on</h2>
        <p>All plants have a smaller id than {String(list.first)}.</p>
      </div>
    )
  }
  if (isEmpty(list.filter)) {
    return (
      <div class="empty stack">
        <Icon name="empty" />
        <h2>No plants yet</h2>
        <p>
          {canWrite
            ? 'Add the first one, or drop a file here to import its plants.'
            : 'As soon as somebody adds one, it appears here.'}
        </p>
      </div>
    )
  }
  return (
    <div class="empty stack">
      <Icon name="search" />
      <h2>No plant matches</h2>
      {list.filter.q !== undefined && <p>Searches ignore the case of the letters A to Z only.</p>}
      {list.filter.tag !== undefined && <p>Tags must match exactly.</p>}
    </div>
  )
}

import type { FeedState } from '../list/change-feed.ts'

const TEXTS = {
  connecting: 'Connecting…',
  live: 'Live',
  lost: 'Connection lost. Trying again…',
  off: 'No live updates',
}

/** Says whether changes by others appear. */
export function FeedStatus({
  state,
  onReload,
}: {
  readonly state: FeedState
  readonly onReload: () => void
}) {
  return (
    <div class="feed">
      <span role="status" class={`feed-state ${state}`}>
        {TEXTS[state]}
      </span>
      {state === 'off' && (
        <button type="button" onClick={onReload}>
          Reload
        </button>
      )}
    </div>
  )
}

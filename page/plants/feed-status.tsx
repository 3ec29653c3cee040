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
      <span role="status" class={`feed-state ${state}`} title={TITLES[state]}>
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

const TITLES = {
  connecting: '',
  live: 'Changes by others appear within a second.',
  lost: 'What you see may be out of date. It is updated as soon as the connection is back.',
  off: 'This service does not report changes. Reload to see those made by others.',
}

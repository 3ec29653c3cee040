import { SignInError } from '../access/sign-in-error.ts'
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
  problem,
  onReload,
}: {
  readonly state: FeedState
  /** Why the connection is lost. */
  readonly problem: unknown
  readonly onReload: () => void
}) {
  return (
    <div class="feed">
      <span role="status" class={`feed-state ${state}`} title={TITLES[state]}>
        {problem instanceof SignInError ? problem.message : TEXTS[state]}
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

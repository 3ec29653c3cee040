import { SignInError } from '../access/sign-in-error.ts'
import type { FeedState } from '../list/change-feed.ts'

const MESSAGES = {
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
      <span role="status" class={`feed-state ${state}`}>
        {problem instanceof SignInError ? problem.message : MESSAGES[state]}
      </span>
      {state === 'off' && (
        <button type="button" onClick={onReload}>
          Reload
        </button>
      )}
    </div>
  )
}

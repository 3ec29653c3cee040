import { SignInError } from '../errors/sign-in-error.ts'
import type { FeedState } from '../list/change-feed.ts'

const MESSAGES = {
  connecting: 'Connecting…',
  live: 'Live',
  lost: 'Connection lost. Trying again…',
}

/** Says whether changes by others appear. */
export function FeedStatus({
  state,
  problem,
}: {
  readonly state: FeedState
  /** Why the connection is lost. */
  readonly problem: unknown
}) {
  return (
    <span role="status" class={`feed-state ${state}`}>
      {problem instanceof SignInError ? problem.message : MESSAGES[state]}
    </span>
  )
}

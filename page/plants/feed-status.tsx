import { SignInError } from '../errors/sign-in-error.ts'
import type { LiveState } from '../list/live-feed.ts'

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
  readonly state: LiveState
  /** Why the connection is lost. */
  readonly problem: unknown
}) {
  return (
    <span role="status" class={`feed-state ${state}`}>
      {problem instanceof SignInError ? problem.message : MESSAGES[state]}
    </span>
  )
}

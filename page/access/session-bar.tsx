import { cut } from '../text/display-text.ts'
import type { Session } from './session.ts'

const NAME_LENGTH = 40

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

/** Says who is signed in, or whose token is in use, and what they are permitted to do. */
export function SessionBar({
  docs,
  session,
  onSignOut,
}: {
  readonly docs: boolean
  readonly session: Session
  readonly onSignOut: () => void
}) {
  const { name, person, expiresAt, canRead, canWrite } = session
  const readRights = canWrite ? 'Read and write' : 'Read only'
  const otherRights = canWrite ? 'Write only' : 'No access'
  return (
    <header class="session-bar">
      <h1>
        <img src="page/icon.svg" alt="" width="28" height="28" /> Plants
      </h1>
      {docs && (
        <nav class="buttons">
          {/* In another tab, because the session can be in memory only. */}
          <a href="documentation/guides/" target="_blank" rel="noopener">
            Guides
          </a>
          <a href="documentation" target="_blank" rel="noopener">
            API docs
          </a>
        </nav>
      )}
      <div class="token">
        <span class="token-name">
          {person === undefined && 'Token: '}
          <bdi>{cut(name, NAME_LENGTH)}</bdi>
        </span>
        <span class="hint">
          {canRead ? readRights : otherRights}
          {expiresAt && `, until ${DATE.format(new Date(expiresAt))}`}
        </span>
      </div>
      <button type="button" onClick={onSignOut}>
        Sign out
      </button>
    </header>
  )
}

import { cut } from '../display-text.ts'
import type { Session } from './session.ts'

const NAME_LENGTH = 40

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

/** Says whose token is in use, and what it permits. */
export function SessionBar({
  session,
  onSignOut,
}: {
  readonly session: Session
  readonly onSignOut: () => void
}) {
  const { token, canRead, canWrite } = session
  const rights = canRead ? (canWrite ? 'Read and write' : 'Read only') : 'Write only'
  return (
    <header class="session-bar">
      <h1>
        <img src="page/icon.svg" alt="" width="28" height="28" /> Plants
      </h1>
      <div class="token">
        <bdi class="token-name">{cut(token.name, NAME_LENGTH)}</bdi>
        <span class="hint">
          {rights}
          {token.expiresAt && `, until ${DATE.format(new Date(token.expiresAt))}`}
        </span>
      </div>
      <button type="button" onClick={onSignOut}>
        Sign out
      </button>
    </header>
  )
}

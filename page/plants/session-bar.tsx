import type { Session } from '../access/session.ts'
import { cut } from '../text/display-text.ts'
import { Icon } from '../text/icon.tsx'

const NAME_LENGTH = 40

/** What the service calls the token that its operator has set for it. */
const OPERATOR = 'PLANT_STORE_TOKEN'

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

/** Says who is signed in, and what they are permitted to do. */
export function SessionBar({
  docs,
  session: { name, expiresAt, canRead, canWrite },
  onSignOut,
}: {
  readonly docs: boolean
  readonly session: Session
  readonly onSignOut: () => void
}) {
  const readRights = canWrite ? 'Read and write' : 'Read only'
  const otherRights = canWrite ? 'Write only' : 'No access'
  return (
    <header class="session-bar">
      <h1 class="row">
        <img src="page/icon.svg" alt="" width="24" height="24" /> <span class="label">Plants</span>
      </h1>
      {docs && (
        <nav class="row">
          {/* In another tab, because the session can be in memory only. */}
          <a href="documentation/guides/" target="_blank" rel="noopener">
            Guides
          </a>
          <a href="documentation" target="_blank" rel="noopener">
            API docs
          </a>
        </nav>
      )}
      <p class="person row">
        <Icon name="person" />
        <bdi class="cut">{name === OPERATOR ? 'Operator' : cut(name, NAME_LENGTH)}</bdi>
        <span class="hint">
          {canRead ? readRights : otherRights}
          {expiresAt && `, until ${DATE.format(new Date(expiresAt))}`}
        </span>
      </p>
      <button type="button" onClick={onSignOut}>
        Sign out
      </button>
    </header>
  )
}

import type { Session } from '../access/session.ts'

/** @param onClose forgets the token, because the person asked for it or, with a problem, the service rejects it */
export function Plants({
  session,
  onClose,
}: {
  readonly session: Session
  readonly onClose: (problem?: string) => void
}) {
  return (
    <button type="button" onClick={() => onClose()}>
      {session.token.name}
    </button>
  )
}

import type { Session } from '../access/session.ts'
import { TransferButtons } from '../transfer/transfer.tsx'

/** @param onClose forgets the token, because the person asked for it or, with a problem, the service rejects it */
export function Plants({
  session,
  onClose,
}: {
  readonly session: Session
  readonly onClose: (problem?: string) => void
}) {
  return (
    <main>
      <button type="button" onClick={() => onClose()}>
        Sign out
      </button>
      <TransferButtons session={session} filter={{}} />
    </main>
  )
}

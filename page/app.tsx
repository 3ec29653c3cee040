import { useEffect, useMemo, useState } from 'preact/hooks'
import { isRejected } from './access/rejection.ts'
import {
  forgetToken,
  openSession,
  type Session,
  storedToken,
  storeToken,
} from './access/session.ts'
import { TokenForm } from './access/token-form.tsx'
import { Drafts } from './drafts/drafts.ts'
import { explain } from './error-text.ts'
import { Plants } from './plants/plants.tsx'
import { useModel } from './use-model.ts'
import './access/access.css'

const REJECTED =
  'You are signed out, because the token is no longer valid. It may have expired or been revoked.'

/** The whole page: asks for a token, then shows the plants. */
export function App() {
  const [session, setSession] = useState<Session>()
  const [problem, setProblem] = useState<string>()
  const [isOpening, setOpening] = useState(storedToken() !== undefined)
  const drafts = useMemo(() => new Drafts(), [])
  useModel(drafts)
  const { length: unsaved } = drafts.unsaved

  const open = async (token: string): Promise<boolean> => {
    try {
      setSession(await openSession(token))
      setProblem(undefined)
      return true
    } catch (error) {
      if (isRejected(error)) forgetToken()
      setProblem(explain(error))
      return false
    } finally {
      setOpening(false)
    }
  }
  const close = (isRejected: boolean) => {
    const question = 'Discard the changes that are not saved, and sign out?'
    if (!isRejected && unsaved > 0 && !confirm(question)) return
    if (!isRejected) drafts.clear()
    forgetToken()
    setSession(undefined)
    setProblem(isRejected ? REJECTED : undefined)
  }

  useEffect(() => {
    const token = storedToken()
    if (token !== undefined) open(token)
  }, [])
  useEffect(() => {
    if (unsaved === 0) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [unsaved])

  if (isOpening) return <p class="welcome">Opening…</p>
  if (session === undefined) {
    return (
      <TokenForm
        problem={problem}
        unsaved={unsaved}
        onToken={async (token, lasting) => {
          if (await open(token)) storeToken(token, lasting)
        }}
      />
    )
  }
  return <Plants session={session} drafts={drafts} onClose={close} />
}

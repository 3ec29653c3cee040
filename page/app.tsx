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

const IMPORT_STOPPED = 'The import has stopped. Importing the file again is safe.'

/** The whole page: asks for a token, then shows the plants. */
export function App() {
  const [session, setSession] = useState<Session>()
  const [problem, setProblem] = useState<string>()
  const [isOpening, setOpening] = useState(storedToken() !== undefined)
  /** Whether there may be a session once the service is available again. */
  const [canResume, setCanResume] = useState(false)
  const drafts = useMemo(() => new Drafts(), [])
  useModel(drafts)
  const { length: unsaved } = drafts.unsaved

  const open = async (token: string): Promise<boolean> => {
    try {
      const opened = await openSession(token)
      // Without the right to change plants, nothing offers a change.
      if (!opened.canWrite) drafts.close()
      setSession(opened)
      setProblem(undefined)
      return true
    } catch (error) {
      if (isRejected(error)) forgetToken()
      setProblem(explain(error))
      return false
    } finally {
      setOpening(false)
      setCanResume(storedToken() !== undefined)
    }
  }
  const resume = () => {
    const token = storedToken()
    if (token !== undefined) open(token)
  }
  const close = (problem?: string) => {
    forgetToken()
    setSession(undefined)
    setCanResume(false)
    setProblem(problem)
  }
  const signOut = () => {
    if (unsaved > 0 && !confirm('Discard the changes that are not saved, and sign out?')) return
    drafts.clear()
    close()
  }

  useEffect(resume, [])
  useEffect(() => {
    // Requests of an earlier session can still be rejected.
    const listener = new AbortController()
    const end = () => close(session?.isImporting ? `${REJECTED} ${IMPORT_STOPPED}` : REJECTED)
    session?.rejected.addEventListener('abort', end, listener)
    return () => listener.abort()
  }, [session])
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
        onRetry={canResume ? resume : undefined}
      />
    )
  }
  return <Plants session={session} drafts={drafts} onSignOut={signOut} />
}

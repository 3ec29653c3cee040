import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import {
  canResume,
  forgetSession,
  openSession,
  resumeSession,
  type Session,
  storeToken,
} from './access/session.ts'
import type { SignIn } from './access/sign-in.ts'
import { Welcome } from './access/welcome.tsx'
import { forgetStash, stashDrafts, unstashDrafts } from './drafts/draft-storage.ts'
import { Drafts } from './drafts/drafts.ts'
import { explain } from './errors/error-text.ts'
import { isRejected } from './errors/rejection.ts'
import { useModel } from './model/use-model.ts'
import { Plants } from './plants/plants.tsx'
import './access/access.css'

const TOKEN_REJECTED =
  'You are signed out, because the token is no longer valid. It may have expired or been revoked.'
const PERSON_REJECTED = 'You are signed out, because your session has ended.'

const IMPORT_STOPPED = 'The import has stopped. Importing the file again is safe.'

/** The whole page: asks a person to sign in, then shows the plants. */
export function App({
  docs,
  signIn,
}: {
  /** Whether the service serves the docs. */
  readonly docs: boolean
  /** Undefined if there are only tokens. */
  readonly signIn: SignIn | undefined
}) {
  const [session, setSession] = useState<Session>()
  const [problem, setProblem] = useState<string>()
  const [isOpening, setOpening] = useState(canResume)
  /** Whether the session of an earlier visit can be resumed, once the service is available. */
  const [canRetry, setCanRetry] = useState(false)
  const drafts = useMemo(() => new Drafts(), [])
  useModel(drafts)
  /** Whether the page is about to leave with its drafts in the tab's storage. */
  const isStashed = useRef(false)

  /** Returns whether there is a session now. */
  const enter = async (open: () => Promise<Session | undefined>): Promise<boolean> => {
    try {
      const opened = await open()
      // Without the right to change plants, nothing offers a change.
      if (opened?.canWrite === false) drafts.close()
      // From now on, they can differ from those of the page.
      if (opened !== undefined) forgetStash()
      setSession(opened)
      setProblem(undefined)
      return opened !== undefined
    } catch (error) {
      if (isRejected(error)) forgetSession()
      setProblem(explain(error))
      return false
    } finally {
      setOpening(false)
      setCanRetry(canResume())
    }
  }
  const leave = async (signIn: SignIn) => {
    try {
      const url = await signIn.begin()
      isStashed.current = stashDrafts(drafts)
      location.assign(url)
    } catch (error) {
      setProblem(explain(error))
    }
  }
  const resume = () => {
    enter(() => resumeSession(signIn))
  }
  const close = (problem?: string) => {
    forgetSession()
    setSession(undefined)
    setCanRetry(false)
    setProblem(problem)
  }
  const signOut = () => {
    const question = 'Discard the changes that are not saved, and sign out?'
    if (drafts.unsaved.length > 0 && !confirm(question)) return
    drafts.clear()
    close()
    const person = session?.person
    if (person === undefined || signIn === undefined) return
    const url = person.signOutUrl()
    if (url !== undefined) location.assign(url)
    else setProblem(`You are signed out here, but may still be signed in at ${signIn.host}.`)
  }

  useEffect(() => {
    if (session === undefined) return
    // Requests of an earlier session can still be rejected.
    const listener = new AbortController()
    const end = () => {
      const reason = session.person === undefined ? TOKEN_REJECTED : PERSON_REJECTED
      close(session.isImporting ? `${reason} ${IMPORT_STOPPED}` : reason)
    }
    session.rejected.addEventListener('abort', end, listener)
    return () => listener.abort()
  }, [session])
  useEffect(() => {
    resume()
    const warn = (event: BeforeUnloadEvent) => {
      if (drafts.unsaved.length > 0 && !isStashed.current) event.preventDefault()
      isStashed.current = false
    }
    // Also after the person went back from the issuer.
    const unstash = () => unstashDrafts(drafts)
    unstash()
    addEventListener('beforeunload', warn)
    addEventListener('pageshow', unstash)
    return () => {
      removeEventListener('beforeunload', warn)
      removeEventListener('pageshow', unstash)
    }
  }, [])

  if (isOpening) return <p class="welcome">Opening…</p>
  if (session === undefined) {
    return (
      <Welcome
        docs={docs}
        issuer={signIn?.host}
        problem={problem}
        unsaved={drafts.unsaved.length}
        onSignIn={() => signIn && leave(signIn)}
        onToken={async (token, lasting) => {
          if (await enter(() => openSession(token))) storeToken(token, lasting)
        }}
        onRetry={canRetry ? resume : undefined}
      />
    )
  }
  return <Plants session={session} drafts={drafts} onSignOut={signOut} />
}

import { useEffect, useMemo, useState } from 'preact/hooks'
import { isRejected } from './access/rejection.ts'
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
import { stashDrafts, unstashDrafts } from './drafts/draft-storage.ts'
import { Drafts } from './drafts/drafts.ts'
import { explain } from './error-text.ts'
import { Plants } from './plants/plants.tsx'
import { useModel } from './use-model.ts'
import './access/access.css'

const TOKEN_REJECTED =
  'You are signed out, because the token is no longer valid. It may have expired or been revoked.'
const PERSON_REJECTED = 'You are signed out, because your session has ended.'

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
  const drafts = useMemo(() => new Drafts(), [])
  useModel(drafts)

  /** Returns whether there is a session now. */
  const enter = async (open: () => Promise<Session | undefined>): Promise<boolean> => {
    try {
      const opened = await open()
      setSession(opened)
      setProblem(undefined)
      return opened !== undefined
    } catch (error) {
      if (isRejected(error)) forgetSession()
      setProblem(explain(error))
      return false
    } finally {
      setOpening(false)
    }
  }
  const leave = async (signIn: SignIn) => {
    try {
      const url = await signIn.begin()
      stashDrafts(drafts)
      location.assign(url)
    } catch (error) {
      setProblem(explain(error))
    }
  }
  const close = (isRejected: boolean) => {
    const question = 'Discard the changes that are not saved, and sign out?'
    if (!isRejected && drafts.unsaved.length > 0 && !confirm(question)) return
    if (!isRejected) drafts.clear()
    forgetSession()
    setSession(undefined)
    const person = session?.person
    if (isRejected) return setProblem(person === undefined ? TOKEN_REJECTED : PERSON_REJECTED)
    setProblem(undefined)
    if (person === undefined || signIn === undefined) return
    const url = person.signOutUrl()
    if (url !== undefined) location.assign(url)
    else setProblem(`You are signed out here, but may still be signed in at ${signIn.host}.`)
  }

  useEffect(() => {
    enter(() => resumeSession(signIn))
    const warn = (event: BeforeUnloadEvent) => {
      if (drafts.unsaved.length > 0) event.preventDefault()
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
      />
    )
  }
  return <Plants session={session} drafts={drafts} onClose={close} />
}

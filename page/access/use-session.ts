import { useEffect, useState } from 'preact/hooks'
import { explain, isRejected } from '../errors/error-text.ts'
import { canResume, forgetSession, resumeSession, type Session } from './session.ts'
import type { SignIn } from './sign-in.ts'

const TOKEN_REJECTED =
  'You are signed out, because the token is no longer valid. It may have expired or been revoked.'
const PERSON_REJECTED = 'You are signed out, because your session has ended.'

/**
 * Resumes the session of an earlier visit, and ends a session once the service rejects it.
 *
 * @param signIn undefined if there are only tokens
 * @param onOpen called with each session before it is shown
 */
export function useSession(
  signIn: SignIn | undefined,
  onOpen: (session: Session) => Promise<void>,
) {
  const [session, setSession] = useState<Session>()
  const [problem, setProblem] = useState<string>()
  const [isOpening, setOpening] = useState(canResume)
  /** Whether the session of an earlier visit can be resumed, once the service is available. */
  const [canRetry, setCanRetry] = useState(false)

  const enter = async (open: () => Promise<Session | undefined>): Promise<boolean> => {
    try {
      const opened = await open()
      if (opened !== undefined) await onOpen(opened)
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
  const resume = () => {
    enter(() => resumeSession(signIn))
  }
  const close = (problem?: string) => {
    forgetSession()
    setSession(undefined)
    setCanRetry(false)
    setProblem(problem)
  }

  useEffect(() => {
    if (session === undefined) return
    // Requests of an earlier session can still be rejected.
    const listener = new AbortController()
    const end = () => {
      const reason = session.person === undefined ? TOKEN_REJECTED : PERSON_REJECTED
      close([reason, session.interruption].filter(Boolean).join(' '))
    }
    session.rejected.addEventListener('abort', end, listener)
    return () => listener.abort()
  }, [session])
  useEffect(resume, [])

  return {
    session,
    /** Why there is no session, in words. */
    problem,
    setProblem,
    /** Whether the session of an earlier visit is being resumed. */
    isOpening,
    /** Opens a session. Returns whether there is one now. */
    enter,
    /** Ends the session, with a problem if the person did not ask for it. */
    close,
    /** Tries again to resume the session of an earlier visit. Undefined if there is none. */
    retry: canRetry ? resume : undefined,
  }
}

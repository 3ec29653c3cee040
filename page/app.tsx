import { useEffect, useState } from 'preact/hooks'
import {
  forgetToken,
  isRejected,
  openSession,
  type Session,
  storedToken,
  storeToken,
} from './access/session.ts'
import { TokenForm } from './access/token-form.tsx'
import { explain } from './error-text.ts'
import { Plants } from './plants/plants.tsx'

/** The whole page: asks for a token, then shows the plants. */
export function App() {
  const [session, setSession] = useState<Session>()
  const [problem, setProblem] = useState<string>()
  const [isOpening, setOpening] = useState(storedToken() !== undefined)

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
  const close = (problem?: string) => {
    forgetToken()
    setSession(undefined)
    setProblem(problem)
  }

  useEffect(() => {
    const token = storedToken()
    if (token !== undefined) open(token)
  }, [])

  if (isOpening) return <p class="welcome">Opening…</p>
  if (session === undefined) {
    return (
      <TokenForm
        problem={problem}
        onToken={async (token, lasting) => {
          if (await open(token)) storeToken(token, lasting)
        }}
      />
    )
  }
  return <Plants session={session} onClose={close} />
}

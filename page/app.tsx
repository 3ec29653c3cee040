import { useMemo } from 'preact/hooks'
import { openSession, storeToken } from './access/session.ts'
import type { SignIn } from './access/sign-in.ts'
import { useSession } from './access/use-session.ts'
import { Welcome } from './access/welcome.tsx'
import { forgetStash } from './drafts/draft-storage.ts'
import { Drafts } from './drafts/drafts.ts'
import { useStash } from './drafts/use-stash.ts'
import { explain } from './errors/error-text.ts'
import { useModel } from './model/use-model.ts'
import { Plants } from './plants/plants.tsx'
import './access/access.css'

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
  const drafts = useMemo(() => new Drafts(), [])
  useModel(drafts)
  const { session, problem, setProblem, isOpening, enter, close, retry } = useSession(
    signIn,
    ({ canWrite }) => {
      // Without the right to change plants, nothing offers a change.
      if (!canWrite) drafts.close()
      // From now on, they can differ from those of the page.
      forgetStash()
    },
  )
  const stash = useStash(drafts)

  const leave = async (signIn: SignIn) => {
    try {
      const url = await signIn.begin()
      stash()
      location.assign(url)
    } catch (error) {
      setProblem(explain(error))
    }
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
        onRetry={retry}
      />
    )
  }
  return <Plants {...{ docs, session, drafts }} onSignOut={signOut} />
}

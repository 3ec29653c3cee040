import type { ComponentProps } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { openSession, storeToken } from './access/session.ts'
import type { SignIn } from './access/sign-in.ts'
import type { Owner, TabStorage } from './access/tab-storage.ts'
import { useSession } from './access/use-session.ts'
import { Welcome } from './access/welcome.tsx'
import type { UndoLog } from './changes/undo-log.ts'
import type { DraftStorage } from './drafts/draft-storage.ts'
import type { Drafts } from './drafts/drafts.ts'
import { explain } from './errors/error-text.ts'
import { useModel } from './model/use-model.ts'
import { Plants } from './plants/plants.tsx'

/** What the tab keeps over a reload. */
export interface Kept {
  readonly storage: TabStorage
  readonly drafts: Drafts
  readonly draftStorage: DraftStorage
  readonly log: UndoLog
}

/** The whole page: asks a person to sign in, then shows the plants. */
export function App({
  docs,
  signIn,
  kept,
}: {
  /** Whether the service serves the docs. */
  readonly docs: boolean
  /** Undefined if there are only tokens. */
  readonly signIn: SignIn | undefined
  readonly kept: Kept
}) {
  const { drafts, draftStorage, log, storage } = kept
  /** Whether the tab leaves the page, and will come back to it. */
  const isLeaving = useRef(false)
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (drafts.unsaved.length > 0 && !isLeaving.current) event.preventDefault()
      isLeaving.current = false
    }
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [])
  const { session, problem, setProblem, isOpening, enter, close, retry } = useSession(
    signIn,
    async ({ client, ownerId: id, name, canRead, canWrite, rejected }) => {
      await handOver(kept, { id, name })
      // Without the right to change plants, nothing offers a change.
      if (!canWrite) drafts.close()
      // If it fails, sending them again is safe.
      if (canRead) draftStorage.discardSaved(client, rejected).catch(() => {})
    },
  )

  const leave = async (signIn: SignIn) => {
    try {
      const url = await signIn.begin()
      isLeaving.current = await draftStorage.stored()
      location.assign(url)
    } catch (error) {
      setProblem(explain(error))
    }
  }
  const signOut = async () => {
    const question = 'Discard the changes that are not saved, and sign out?'
    if (drafts.unsaved.length > 0 && !confirm(question)) return
    drafts.clear()
    close()
    try {
      await log.clear()
      await storage.clear()
    } catch {
      setProblem('You are signed out, but the browser keeps what takes your last changes back.')
    }
    const person = session?.person
    if (person === undefined || signIn === undefined) return
    const url = person.signOutUrl()
    if (url !== undefined) location.assign(url)
    else setProblem(`You are signed out here, but may still be signed in at ${signIn.host}.`)
  }

  if (isOpening) return <p class="welcome">Opening…</p>
  if (session === undefined) {
    return (
      <SignedOut
        docs={docs}
        issuer={signIn?.host}
        problem={problem}
        drafts={drafts}
        owner={storage.owner?.name}
        onSignIn={() => signIn && leave(signIn)}
        onToken={async (token, lasting) => {
          if (await enter(() => openSession(token))) storeToken(token, lasting)
        }}
        onRetry={retry}
      />
    )
  }
  return <Plants {...{ docs, session, drafts, log }} onSignOut={signOut} />
}

function SignedOut({
  drafts,
  ...props
}: Omit<ComponentProps<typeof Welcome>, 'unsaved'> & { readonly drafts: Drafts }) {
  useModel(drafts)
  return <Welcome {...props} unsaved={drafts.unsaved.length} />
}

/** Deletes what the tab keeps, unless it belongs to the person or token that signs in. */
async function handOver({ storage, drafts, log }: Kept, owner: Owner): Promise<void> {
  if (storage.owner?.id === owner.id) return
  drafts.clear()
  await log.clear()
  await storage.handOver(owner)
}

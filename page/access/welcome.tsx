import { useState } from 'preact/hooks'
import { type OnToken, TokenForm } from './token-form.tsx'

/** Asks a person to sign in, with the issuer if there is one, or with a token. */
export function Welcome({
  docs,
  issuer,
  problem,
  unsaved,
  owner,
  onSignIn,
  onToken,
  onRetry,
}: {
  readonly docs: boolean
  /** The host of the issuer. */
  readonly issuer: string | undefined
  /** Why there is no session, such as a rejected token. */
  readonly problem: string | undefined
  /** The number of changes that are kept until there is a session again. */
  readonly unsaved: number
  /** The name of the person or the token whose changes they are. */
  readonly owner: string | undefined
  readonly onSignIn: () => Promise<void> | undefined
  readonly onToken: OnToken
  /** Resumes the session of an earlier visit. Undefined if there is none. */
  readonly onRetry: (() => void) | undefined
}) {
  const [isBusy, setBusy] = useState(false)
  const signIn = async () => {
    setBusy(true)
    await onSignIn()
    setBusy(false)
  }
  return (
    <main class="welcome">
      <div class="card surface stack">
        <h1 class="row">
          <img src="page/icon.svg" alt="" width="40" height="40" /> Plants
        </h1>
        <p>
          {issuer === undefined
            ? 'To look at the plants, paste an access token. When the service starts, it prints where the first one is. If you do not run the service yourself, ask its operator.'
            : `To look at the plants, sign in with your account at ${issuer}.`}
        </p>
        {unsaved > 0 && (
          <p>
            <strong>
              {unsaved === 1 ? '1 change is not saved' : `${unsaved} changes are not saved`}
            </strong>
            . Keep this tab open, and sign in again as <bdi>{owner}</bdi>, with the same account or
            a token with that name. If somebody else signs in here, unsaved changes are deleted.
          </p>
        )}
        <p id="problem" class="problem" role="alert">
          {problem}
        </p>
        {onRetry && (
          <button type="button" onClick={onRetry}>
            Try again
          </button>
        )}
        {issuer === undefined ? (
          <TokenForm docs={docs} problem={problem} onToken={onToken} isPrimary />
        ) : (
          <>
            <button type="button" class="primary" disabled={isBusy} onClick={signIn}>
              {isBusy ? 'Signing in…' : 'Sign in'}
            </button>
            <details>
              <summary>Use an access token instead</summary>
              <TokenForm docs={docs} problem={problem} onToken={onToken} />
            </details>
          </>
        )}
      </div>
    </main>
  )
}

import { useState } from 'preact/hooks'

/** Asks for a token. */
export function TokenForm({
  problem,
  unsaved,
  onToken,
  onRetry,
}: {
  /** Why there is no session, such as a rejected token. */
  readonly problem: string | undefined
  /** The number of changes that are kept until there is a session again. */
  readonly unsaved: number
  readonly onToken: (token: string, lasting: boolean) => Promise<void>
  /** Tries the stored token again. Undefined if there is none. */
  readonly onRetry: (() => void) | undefined
}) {
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    // People paste it with the scheme, as they see it in commands, and with what no header can contain.
    const token = String(form.get('token'))
      .replace(/^\s*Bearer\s+/i, '')
      .replace(/[^\x21-\x7e]/g, '')
    setBusy(true)
    await onToken(token, form.get('lasting') !== null)
    setBusy(false)
  }
  return (
    <main class="welcome">
      <form class="card" onSubmit={submit}>
        <h1>
          <img src="page/icon.svg" alt="" width="40" height="40" /> Plants
        </h1>
        <p>
          To look at the plants, paste an access token. When the service starts, it prints where the
          first one is. If you do not run the service yourself, ask its operator.
        </p>
        {unsaved > 0 && (
          <p>
            <strong>
              {unsaved === 1 ? '1 change is not saved' : `${unsaved} changes are not saved`}
            </strong>
            , and will be there when you have signed in. Keep this page open.
          </p>
        )}
        <label class="field">
          Token
          <input
            name="token"
            type="password"
            required
            autocomplete="off"
            aria-describedby="problem"
            aria-invalid={problem !== undefined}
          />
        </label>
        <p id="problem" class="problem" role="alert">
          {problem}
        </p>
        {onRetry && (
          <button type="button" onClick={onRetry}>
            Try again
          </button>
        )}
        <label class="choice">
          <input name="lasting" type="checkbox" aria-describedby="lasting" />
          Keep it in this browser
        </label>
        <p id="lasting" class="hint">
          Otherwise, it is forgotten when you close this tab.
        </p>
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? 'Checking…' : 'Continue'}
        </button>
        <p class="hint">
          Developers: see the <a href="documentation">API docs</a>.
        </p>
      </form>
    </main>
  )
}

import type { TargetedSubmitEvent } from 'preact'
import { useState } from 'preact/hooks'

/** @param lasting whether the browser keeps the token */
export type OnToken = (token: string, lasting: boolean) => Promise<void>

/** Asks for a token. */
export function TokenForm({
  docs,
  problem,
  onToken,
  isPrimary = false,
}: {
  readonly docs: boolean
  readonly problem: string | undefined
  readonly onToken: OnToken
  /** Whether a token is the only way to sign in. */
  readonly isPrimary?: boolean
}) {
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    // People paste it with the scheme, as they see it in commands, and with what no header can contain.
    const token = String(form.get('token'))
      .replace(/^\s*Bearer\s+/i, '')
      .replace(/[^\x21-\x7e]/g, '')
    setBusy(true)
    await onToken(token, form.get('lasting') !== null)
    setBusy(false)
  }
  return (
    <form class="token-form" onSubmit={submit}>
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
      <label class="choice">
        <input name="lasting" type="checkbox" aria-describedby="lasting" />
        Keep it in this browser
      </label>
      <p id="lasting" class="hint">
        Otherwise, it is forgotten when you close this tab.
      </p>
      <button type="submit" class={isPrimary ? 'primary' : undefined} disabled={isBusy}>
        {isBusy ? 'Checking…' : 'Continue'}
      </button>
      {docs && (
        <p class="hint">
          Developers: see the <a href="documentation">API docs</a>.
        </p>
      )}
    </form>
  )
}

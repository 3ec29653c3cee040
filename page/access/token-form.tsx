import type { TargetedSubmitEvent } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { isPath, readToken } from './token-text.ts'

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
  const [token, setToken] = useState('')
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (isPrimary) input.current?.focus()
  }, [])
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const token = readToken(String(form.get('token')))
    setBusy(true)
    await onToken(token, form.get('lasting') !== null)
    setBusy(false)
    setToken(token)
    // What is typed next replaces it.
    input.current?.select()
  }
  return (
    <form class="stack" onSubmit={submit}>
      <label class="field">
        Token
        <input
          ref={input}
          name="token"
          type="password"
          required
          autocomplete="off"
          aria-describedby="problem token-hint"
          aria-invalid={problem !== undefined}
        />
      </label>
      <p id="token-hint" class="problem" role="alert">
        {problem !== undefined &&
          isPath(token) &&
          'This looks like the path of a file. Open the file, and paste the token that it contains.'}
      </p>
      <label class="row">
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
          Developers: see the <a href="documentation">API docs</a> and the{' '}
          <a href="documentation/guides/">guides</a>.
        </p>
      )}
    </form>
  )
}

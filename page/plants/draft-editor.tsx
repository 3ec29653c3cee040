import { useEffect, useRef, useState } from 'preact/hooks'
import { Conflict } from './conflict.tsx'
import { cut } from './display-text.ts'
import { type Draft, type Drafts, isChanged, type Sender } from './drafts.ts'

/** Longer text makes typing slow, so that it is only shown on request. */
const TEXT_LENGTH = 5000

/** A form for a plant: one to add or, in place of its row, one to change. */
export function DraftEditor({
  drafts,
  draft,
  sender,
  onClose,
}: {
  readonly drafts: Drafts
  readonly draft: Draft
  readonly sender: Sender
  /** Called when the form closes, with the draft saved, kept or discarded. */
  readonly onClose: () => void
}) {
  const { key, typed, before, state, problem } = draft
  const form = useRef<HTMLFormElement>(null)
  const isSending = state === 'sending'
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('textarea, input')?.focus()
  }, [key])
  const save = () => drafts.send(key, sender)
  const discard = () => {
    drafts.discard(key)
    onClose()
  }
  return (
    <form
      ref={form}
      class="editor"
      aria-label={before === undefined ? 'Add a plant' : `Edit plant ${before.id}`}
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') {
          // What was typed is kept as a draft.
          drafts.close()
          onClose()
        } else if (event.key === 'Enter' && event.target instanceof HTMLTextAreaElement) {
          // Names rarely have several lines.
          if (event.shiftKey || event.isComposing) return
          event.preventDefault()
          save()
        }
      }}
    >
      {before === undefined && (
        <label class="field id-field">
          Id
          <input
            name="id"
            required
            autocomplete="off"
            value={typed.id}
            readOnly={isSending}
            onInput={({ currentTarget }) => drafts.type(key, { id: currentTarget.value })}
          />
        </label>
      )}
      <TextField
        label="Name"
        text={typed.name}
        isReadOnly={isSending}
        onText={(name) => drafts.type(key, { name })}
      />
      <div class="tag-field">
        {typed.tag !== undefined && (
          <TextField
            label="Tag"
            text={typed.tag}
            isReadOnly={isSending}
            onText={(tag) => drafts.type(key, { tag })}
          />
        )}
        <label class="choice">
          <input
            type="checkbox"
            checked={typed.tag !== undefined}
            disabled={isSending}
            onChange={({ currentTarget: { checked } }) =>
              drafts.type(key, { tag: checked ? (before?.tag ?? '') : undefined })
            }
          />{' '}
          Has a tag
        </label>
      </div>
      <p class="problem" role="alert">
        {problem !== undefined && (state === 'unsent' ? `Not saved. ${problem}` : problem)}
      </p>
      {state === 'conflict' && (
        <Conflict drafts={drafts} draft={draft} sender={sender} onDiscard={discard} />
      )}
      {state !== 'conflict' && (
        <div class="buttons">
          <button type="submit" class="primary" disabled={isSending}>
            {isSending ? 'Saving…' : state === 'unsent' ? 'Send again' : 'Save'}
          </button>
          <button type="button" disabled={isSending} onClick={discard}>
            {isChanged(draft) ? 'Discard' : 'Cancel'}
          </button>
        </div>
      )}
    </form>
  )
}

/** A text of any length, which can have several lines. */
function TextField({
  label,
  text,
  isReadOnly,
  onText,
}: {
  readonly label: string
  readonly text: string
  readonly isReadOnly: boolean
  readonly onText: (text: string) => void
}) {
  const [isWhole, setWhole] = useState(text.length <= TEXT_LENGTH)
  return (
    <div class="text-field">
      <label class="field">
        {label}
        <textarea
          rows={1}
          dir="auto"
          spellcheck={false}
          value={isWhole ? text : cut(text, TEXT_LENGTH)}
          readOnly={isReadOnly || !isWhole}
          onInput={({ currentTarget }) => onText(currentTarget.value)}
        />
      </label>
      {!isWhole && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString('en')} characters
        </button>
      )}
    </div>
  )
}

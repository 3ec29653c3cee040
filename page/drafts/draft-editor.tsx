import { useEffect, useRef } from 'preact/hooks'
import { Field } from '../forms/text-fields.tsx'
import { idAfter } from '../list/last-plants.ts'
import { parseId } from '../list/plant-id.ts'
import { isTypingOutside } from '../list/surroundings.ts'
import type { Tags } from '../list/use-tags.ts'
import { Conflict } from './conflict.tsx'
import { ContentFields } from './content-fields.tsx'
import { type Draft, isChanged } from './draft.ts'
import type { Drafts, Saver } from './drafts.ts'

/** The name of the button that saves a plant to add and begins the next one. */
const ANOTHER = 'another'

/** A form for a plant: one to add or, in place of its row, one to change. */
export function DraftEditor({
  drafts,
  draft,
  saver,
  tags,
  onClose,
}: {
  readonly drafts: Drafts
  readonly draft: Draft
  readonly saver: Saver
  /** Suggestions. Undefined if the token cannot read. */
  readonly tags: Tags | undefined
  /** Called when the form closes, with the draft saved, kept or discarded. */
  readonly onClose: () => void
}) {
  const { key, typed, before, state, problem, problemField } = draft
  const form = useFieldFocus(draft)
  const isSending = state === 'sending'
  const discard = () => {
    drafts.discard(key)
    onClose()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      // What was typed is kept as a draft.
      drafts.close()
      onClose()
    } else if (event.key === 'Enter' && event.target instanceof HTMLTextAreaElement) {
      // Names rarely have several lines.
      if (event.shiftKey || event.isComposing) return
      event.preventDefault()
      // The key that has opened the editor can still be pressed.
      if (!event.repeat) form.current?.requestSubmit()
    }
  }
  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault()
    await drafts.send(key, saver)
    const isSaved = drafts.find(key) === undefined && drafts.open === undefined
    if (event.submitter?.getAttribute('name') === ANOTHER && isSaved)
      drafts.add(String(idAfter(parseId(typed.id) ?? 0n) ?? ''))
  }
  return (
    <form
      ref={form}
      class="editor stack"
      aria-labelledby="editor-title"
      onSubmit={onSubmit}
      onKeyDown={onKeyDown}
    >
      <h2 id="editor-title">{before === undefined ? 'Add a plant' : `Edit plant ${before.id}`}</h2>
      {state === 'conflict' && <Conflict {...{ drafts, draft, saver }} onDiscard={discard} />}
      {before === undefined && (
        <IdField
          id={typed.id}
          isReadOnly={isSending}
          problem={problemField === 'id' ? problem : undefined}
          onId={(id) => drafts.type(key, { id })}
        />
      )}
      <ContentFields drafts={drafts} draft={draft} tags={tags} />
      <p class="problem" role="alert">
        {problem !== undefined &&
          problemField === undefined &&
          (state === 'unsent' ? `Not saved. ${problem}` : problem)}
      </p>
      {state !== 'conflict' && <Buttons draft={draft} onDiscard={discard} />}
    </form>
  )
}

function Buttons({ draft, onDiscard }: { readonly draft: Draft; readonly onDiscard: () => void }) {
  const isSending = draft.state === 'sending'
  return (
    <div class="row">
      <button type="submit" class="primary" disabled={isSending}>
        {isSending ? 'Saving…' : draft.state === 'unsent' ? 'Send again' : 'Save'}
      </button>
      {draft.before === undefined && (
        <button type="submit" name={ANOTHER} disabled={isSending}>
          Save and add another
        </button>
      )}
      <button type="button" disabled={isSending} onClick={onDiscard}>
        {isChanged(draft) ? 'Discard' : 'Cancel'}
      </button>
    </div>
  )
}

/**
 * Focuses the first field that the person probably fills in when a draft is opened or is no longer in conflict, what a
 * conflict is about, or the field with a problem.
 */
function useFieldFocus(draft: Draft) {
  const { key, typed, state, problemField } = draft
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    const element = form.current
    const { activeElement } = document
    if (element === null || isTypingOutside(element) || element.contains(activeElement)) return
    // A suggested id rarely needs to be changed.
    const field = typed.id === '' ? 'input' : 'textarea'
    element.querySelector<HTMLElement>(state === 'conflict' ? '.reason' : field)?.focus()
  }, [key, state === 'conflict'])
  useEffect(() => {
    if (problemField === undefined) return
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [draft])
  return form
}

function IdField({
  id,
  isReadOnly,
  problem,
  onId,
}: {
  readonly id: string
  readonly isReadOnly: boolean
  readonly problem: string | undefined
  readonly onId: (id: string) => void
}) {
  return (
    <div class="stack">
      <Field label="Id" problem={problem}>
        {(attributes) => (
          <input
            {...attributes}
            name="id"
            required
            autocomplete="off"
            value={id}
            readOnly={isReadOnly}
            onInput={({ currentTarget }) => onId(currentTarget.value)}
          />
        )}
      </Field>
    </div>
  )
}

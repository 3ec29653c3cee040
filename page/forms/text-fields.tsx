import type { ComponentChildren } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import { cut, fromLines, toLines } from '../text/display-text.ts'
import { formatNumber } from '../text/intl.ts'

/** Longer text makes typing slow, so that it is only shown on request. */
const TEXT_LENGTH = 5000

/** Stands for no value of an own member. */
export const NONE = 'No value'

/** What all fields of the form for a plant have. */
export interface FieldProps {
  readonly label: string
  /** What to say below the field. */
  readonly hint?: string | undefined
  readonly isReadOnly: boolean
  /** What is wrong with the text, as a sentence. */
  readonly problem: string | undefined
}

/** A label, a control, its hint and its problem. */
export function Field({
  label,
  hint,
  problem,
  children,
}: Omit<FieldProps, 'isReadOnly'> & {
  /** Returns the control, which gets some attributes. */
  readonly children: (attributes: {
    readonly id: string
    readonly 'aria-invalid': boolean
    readonly 'aria-describedby': string | undefined
  }) => ComponentChildren
}) {
  const id = useId()
  const describedBy = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean)
  return (
    <>
      <div class="field">
        <label htmlFor={id}>{label}</label>
        {children({
          id,
          'aria-invalid': problem !== undefined,
          'aria-describedby': describedBy.join(' ') || undefined,
        })}
      </div>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {/* The form moves the focus to the field, so that it is announced. */}
      {problem && (
        <p class="problem" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </>
  )
}

/** A text field of any length, which can have several lines. */
export function TextField({
  text,
  isReadOnly,
  onText,
  ...field
}: FieldProps & {
  readonly text: string
  readonly onText: (text: string) => void
}) {
  const [isWhole, setWhole] = useState(text.length <= TEXT_LENGTH)
  const control = useRef<HTMLTextAreaElement>(null)
  return (
    <div class="stack">
      <Field {...field}>
        {(attributes) => (
          <textarea
            {...attributes}
            ref={control}
            rows={1}
            dir="auto"
            spellcheck={false}
            value={toLines(isWhole ? text : cut(text, TEXT_LENGTH))}
            readOnly={isReadOnly || !isWhole}
            onInput={({ currentTarget }) => onText(fromLines(currentTarget.value, text))}
          />
        )}
      </Field>
      {!isWhole && (
        <button
          type="button"
          onClick={() => {
            setWhole(true)
            control.current?.focus()
          }}
        >
          Show all {formatNumber(text.length)} characters
        </button>
      )}
    </div>
  )
}

/** Text, empty text, or none. */
export function OptionalTextField({
  name,
  none,
  text: given,
  suggestions,
  isReadOnly,
  onText,
  ...field
}: FieldProps & {
  /** What to call it in a sentence. */
  readonly name: string
  /** What stands for no text. */
  readonly none: string
  readonly text: string | undefined
  readonly suggestions?: { readonly values: readonly string[]; load(): void }
  readonly onText: (text: string | undefined) => void
}) {
  const listId = useId()
  const text = given ?? ''
  // Few people distinguish an empty tag from none.
  const [canBeEmpty] = useState(given === '')
  // An input would remove line breaks. Typing does not change the kind of field, which would lose the focus.
  const [isLong] = useState(text.length > TEXT_LENGTH || /[\r\n]/.test(text))
  return (
    <div class="stack">
      {isLong ? (
        <TextField {...field} text={text} isReadOnly={isReadOnly} onText={onText} />
      ) : (
        <Field {...field}>
          {(attributes) => (
            <input
              {...attributes}
              dir="auto"
              list={suggestions && listId}
              autocomplete="off"
              placeholder={given === '' ? `Empty ${name}` : none}
              value={text}
              readOnly={isReadOnly}
              onFocus={suggestions?.load}
              onInput={({ currentTarget: { value } }) => onText(value === '' ? undefined : value)}
            />
          )}
        </Field>
      )}
      {suggestions && (
        <datalist id={listId}>
          {suggestions.values.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
      {canBeEmpty && text === '' && (
        <label class="row">
          <input
            type="checkbox"
            checked={given === ''}
            disabled={isReadOnly}
            onChange={({ currentTarget: { checked } }) => onText(checked ? '' : undefined)}
          />
          Save an empty {name}
        </label>
      )}
    </div>
  )
}

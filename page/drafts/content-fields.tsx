import { useRef, useState } from 'preact/hooks'
import { contentMembers } from '../../contract/plant.ts'
import type { Tags } from '../list/use-tags.ts'
import { cut, fromLines, memberLabel, toLines } from '../text/display-text.ts'
import { formatNumber } from '../text/numbers.ts'
import type { Draft, Drafts } from './drafts.ts'

/** Longer text makes typing slow, so that it is only shown on request. */
const TEXT_LENGTH = 5000

/** How many tags the browser suggests. */
const SUGGESTED_MAX = 1000

/** A field for each member of a plant except the id. */
export function ContentFields({
  drafts,
  draft: { key, typed, state },
  tags,
}: {
  readonly drafts: Drafts
  readonly draft: Draft
  /** Suggestions. Undefined if the token cannot read. */
  readonly tags: Tags | undefined
}) {
  const fields: { readonly [name: string]: string | undefined } = typed
  const isReadOnly = state === 'sending'
  return contentMembers.map(({ name }) =>
    name === 'tag' ? (
      <TagField
        key={name}
        tag={typed.tag}
        tags={tags}
        isReadOnly={isReadOnly}
        onTag={(tag) => drafts.type(key, { tag })}
      />
    ) : (
      <TextField
        key={name}
        label={memberLabel(name)}
        text={fields[name] ?? ''}
        isReadOnly={isReadOnly}
        onText={(text) => drafts.type(key, { [name]: text })}
      />
    ),
  )
}

/** A text field of any length, which can have several lines. */
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
  const field = useRef<HTMLTextAreaElement>(null)
  return (
    <div class="text-field">
      <label class="field">
        {label}
        <textarea
          ref={field}
          rows={1}
          dir="auto"
          spellcheck={false}
          value={toLines(isWhole ? text : cut(text, TEXT_LENGTH))}
          readOnly={isReadOnly || !isWhole}
          onInput={({ currentTarget }) => onText(fromLines(currentTarget.value, text))}
        />
      </label>
      {!isWhole && (
        <button
          type="button"
          onClick={() => {
            setWhole(true)
            field.current?.focus()
          }}
        >
          Show all {formatNumber(text.length)} characters
        </button>
      )}
    </div>
  )
}

/** A tag, an empty tag, or none. */
function TagField({
  tag,
  tags,
  isReadOnly,
  onTag,
}: {
  readonly tag: string | undefined
  readonly tags: Tags | undefined
  readonly isReadOnly: boolean
  readonly onTag: (tag: string | undefined) => void
}) {
  const text = tag ?? ''
  const suggested = tags?.all.slice(0, SUGGESTED_MAX) ?? []
  // Few people distinguish an empty tag from none.
  const [canBeEmpty] = useState(tag === '')
  // An input would remove line breaks. Typing does not change the kind of field, which would lose the focus.
  const [isLong] = useState(text.length > TEXT_LENGTH || /[\r\n]/.test(text))
  return (
    <div class="tag-field">
      {isLong ? (
        <TextField label="Tag" text={text} isReadOnly={isReadOnly} onText={onTag} />
      ) : (
        <label class="field">
          Tag
          <input
            dir="auto"
            list="suggested-tags"
            autocomplete="off"
            placeholder={tag === '' ? 'Empty tag' : 'No tag'}
            value={text}
            readOnly={isReadOnly}
            onFocus={() => tags?.load()}
            onInput={({ currentTarget: { value } }) => onTag(value === '' ? undefined : value)}
          />
        </label>
      )}
      <datalist id="suggested-tags">
        {suggested.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      {canBeEmpty && text === '' && (
        <label class="choice">
          <input
            type="checkbox"
            checked={tag === ''}
            disabled={isReadOnly}
            onChange={({ currentTarget: { checked } }) => onTag(checked ? '' : undefined)}
          />
          Save an empty tag
        </label>
      )}
    </div>
  )
}

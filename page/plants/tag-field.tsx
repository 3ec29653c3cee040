import { useEffect, useId, useState } from 'preact/hooks'
import { limits } from '../../core/generated/limits.gen.ts'
import type { Tags } from '../list/use-tags.ts'

/** How many tags are offered at once. */
const OFFERED_MAX = 100

/** Selects plants by one of the tags that exist, or without a tag. */
export function TagField({
  tags,
  tag,
  isUntagged,
  onTag,
  onUntagged,
}: {
  readonly tags: Tags
  readonly tag: string | undefined
  readonly isUntagged: boolean
  /** Called with undefined for plants with any tag, or none. */
  readonly onTag: (tag: string | undefined) => void
  readonly onUntagged: (isUntagged: boolean) => void
}) {
  const listId = useId()
  const [typed, setTyped] = useState(tag ?? '')
  useEffect(() => setTyped(tag ?? ''), [tag])
  const choose = (text: string) => {
    const chosen = text === '' ? undefined : findTag(tags.all, text)
    setTyped(chosen ?? '')
    if (chosen !== tag) onTag(chosen)
  }
  return (
    <div class="tag-field">
      <input
        type="search"
        aria-label="Tag"
        class={tag === undefined ? '' : 'active'}
        list={listId}
        autocomplete="off"
        maxLength={limits.listPlants.tag.maxLength}
        placeholder={tag === '' ? 'Empty tag' : 'All tags'}
        value={typed}
        onFocus={({ currentTarget }) => {
          // What is typed replaces the chosen tag.
          currentTarget.select()
          tags.load()
        }}
        onInput={(event) => {
          const { value } = event.currentTarget
          setTyped(value)
          if (!isTyping(event)) choose(value)
        }}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      />
      <datalist id={listId}>
        {offer(tags.all, typed).map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <button
        type="button"
        class={isUntagged ? 'active' : ''}
        aria-pressed={isUntagged}
        onClick={() => onUntagged(!isUntagged)}
      >
        No tag
      </button>
    </div>
  )
}

/** Whether the text is being typed. Otherwise, it is one that was offered, or has been cleared. */
function isTyping(event: Event): boolean {
  return event instanceof InputEvent && event.inputType !== 'insertReplacementText'
}

function offer(tags: readonly string[], typed: string): readonly string[] {
  const wanted = simplify(typed)
  return tags.filter((tag) => simplify(tag).includes(wanted)).slice(0, OFFERED_MAX)
}

/** The tag that a person means. Not all tags may be loaded, and new ones can appear at any time. */
function findTag(tags: readonly string[], text: string): string {
  if (tags.includes(text)) return text
  return tags.find((tag) => simplify(tag) === simplify(text)) ?? text
}

/** A text field has no line breaks, and few people type capitals. */
function simplify(text: string): string {
  return text.replace(/[\r\n]/g, '').toLowerCase()
}

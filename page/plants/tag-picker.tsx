import { useEffect, useRef, useState } from 'preact/hooks'
import { limits } from '../../contract/limits.gen.ts'
import type { Tags } from '../list/use-tags.ts'
import { cut } from '../text/display-text.ts'

/** How many tags are offered at once. Typing selects others. */
const OFFERED_MAX = 100

const LABEL_LENGTH = 80

interface Option {
  /** Undefined for all plants. */
  readonly tag: string | undefined
  readonly label: string
}

/** Lets a person choose one of the tags that plants have. */
export function TagPicker({
  tags,
  tag,
  onTag,
}: {
  readonly tags: Tags
  readonly tag: string | undefined
  readonly onTag: (tag: string | undefined) => void
}) {
  const [isOpen, setOpen] = useState(false)
  const [typed, setTyped] = useState('')
  /** The option that the person has moved to. */
  const [moved, setMoved] = useState<number>()
  const options = isOpen ? optionsFor(tags.all, typed) : []
  const chosen = options.findIndex((option) => option.tag === tag)
  const current = moved ?? Math.max(0, chosen)

  const open = () => {
    if (isOpen) return
    setOpen(true)
    setTyped('')
    setMoved(undefined)
    tags.load()
  }
  const close = () => setOpen(false)
  const choose = (option: Option | undefined) => {
    if (option === undefined) return
    close()
    if (option.tag !== tag) onTag(option.tag)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (!isOpen) return open()
      const step = event.key === 'ArrowDown' ? 1 : -1
      setMoved((current + step + options.length) % options.length)
    } else if (event.key === 'Enter' && isOpen) choose(options[current])
    else if (event.key === 'Escape' && isOpen) close()
    else return
    event.preventDefault()
  }
  return (
    <div class="tag-picker">
      <input
        role="combobox"
        aria-label="Tag"
        aria-expanded={isOpen}
        aria-controls="tag-options"
        aria-autocomplete="list"
        aria-activedescendant={isOpen ? `tag-option-${current}` : undefined}
        autocomplete="off"
        maxLength={limits.listPlants.tag.maxLength}
        placeholder={labelFor(tag)}
        value={isOpen ? typed : cut(tag ?? '', LABEL_LENGTH)}
        // What is typed replaces the chosen tag.
        onFocus={({ currentTarget }) => currentTarget.select()}
        onClick={open}
        onBlur={close}
        onInput={({ currentTarget }) => {
          open()
          setTyped(currentTarget.value)
          setMoved(currentTarget.value === '' ? 0 : 1)
        }}
        onKeyDown={onKeyDown}
      />
      <OptionList {...{ options, current, isOpen }} onChoose={choose} />
    </div>
  )
}

function OptionList({
  options,
  current,
  isOpen,
  onChoose,
}: {
  readonly options: readonly Option[]
  readonly current: number
  readonly isOpen: boolean
  readonly onChoose: (option: Option) => void
}) {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    list.current?.children[current]?.scrollIntoView({ block: 'nearest' })
  }, [current, isOpen])
  return (
    <div id="tag-options" role="listbox" aria-label="Tags" ref={list} hidden={!isOpen}>
      {options.map((option, index) => (
        <div
          key={`${option.tag === undefined} ${option.tag}`}
          id={`tag-option-${index}`}
          role="option"
          aria-selected={index === current}
          onMouseDown={(event) => {
            // The input keeps the focus.
            event.preventDefault()
            onChoose(option)
          }}
        >
          <bdi>{option.label}</bdi>
        </div>
      ))}
    </div>
  )
}

/** The tags that contain what was typed, after one that selects all plants. */
function optionsFor(tags: readonly string[], typed: string): readonly Option[] {
  const wanted = typed.toLowerCase()
  const found = tags.filter((tag) => tag.toLowerCase().includes(wanted)).slice(0, OFFERED_MAX)
  // Not all tags may be loaded, and new ones can appear at any time.
  if (typed !== '' && !found.includes(typed)) found.push(typed)
  const options = found.map((tag) => ({ tag, label: labelFor(tag) }))
  return [{ tag: undefined, label: labelFor(undefined) }, ...options]
}

function labelFor(tag: string | undefined): string {
  return tag === undefined ? 'All tags' : cut(tag, LABEL_LENGTH) || 'Empty tag'
}

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { limits } from '../../core/generated/limits.gen.ts'
import { createFilter, type Filter, type Selection, withFilter } from '../list/filter.ts'
import { parseId } from '../list/plant-id.ts'
import type { Tags } from '../list/use-tags.ts'
import { Icon } from '../text/icon.tsx'
import { Conditions } from './conditions.tsx'
import { TagField } from './tag-field.tsx'

/** How long a person pauses between two words, in milliseconds. */
const TYPING_MS = 250

/** The contract's limit on `q`. */
const SEARCH_LENGTH_MAX = limits.listPlants.q.maxLength

/** Selects what the table shows. */
export function Toolbar({
  tags,
  selection,
  onSelect,
  children,
}: {
  readonly tags: Tags
  readonly selection: Selection
  readonly onSelect: (selection: Selection) => void
  readonly children: ComponentChildren
}) {
  const { filter } = selection
  // A new filter begins at the first plant.
  const select = (changes: { readonly [Name in keyof Filter]?: Filter[Name] | undefined }) => {
    onSelect(withFilter(selection, createFilter({ ...filter, ...changes })))
  }
  return (
    <search class="toolbar">
      <SearchField q={filter.q ?? ''} onSearch={(q) => select({ q })} />
      <TagField
        tags={tags}
        tag={filter.tag}
        isUntagged={filter.untagged === true}
        onTag={(tag) => select({ tag, untagged: undefined })}
        onUntagged={(isUntagged) =>
          select({ tag: undefined, untagged: isUntagged ? true : undefined })
        }
      />
      <Conditions
        selection={selection}
        onFilter={(filter) => select({ filter })}
        onUnsort={() => onSelect({ filter })}
      >
        <JumpField onJump={(first) => onSelect({ filter, first })} />
        <div class="commands">{children}</div>
      </Conditions>
    </search>
  )
}

function SearchField({
  q,
  onSearch,
}: {
  readonly q: string
  readonly onSearch: (q: string) => void
}) {
  const [typed, setTyped] = useState(q)
  const searched = useRef(q)
  const latest = useRef(onSearch)
  latest.current = onSearch
  useEffect(() => {
    if (q === searched.current) return
    // The filter was cleared, or the person has gone back.
    searched.current = q
    setTyped(q)
  }, [q])
  useEffect(() => {
    const wanted = typed.trim()
    if (wanted === searched.current) return
    const timer = setTimeout(() => {
      searched.current = wanted
      // Meanwhile, a tag can have been chosen.
      latest.current(wanted)
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <label class="search">
      <span class="for-screen-readers">Search names</span>
      <Icon name="search" />
      <input
        type="search"
        class={q === '' ? '' : 'active'}
        placeholder="Search names"
        maxLength={SEARCH_LENGTH_MAX}
        value={typed}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
    </label>
  )
}

function JumpField({ onJump }: { readonly onJump: (first: bigint) => void }) {
  const [typed, setTyped] = useState('')
  return (
    <form
      class="jump"
      onSubmit={(event) => {
        event.preventDefault()
        const id = parseId(typed)
        if (id === undefined) return
        setTyped('')
        onJump(id)
      }}
    >
      <label>
        <span class="for-screen-readers">Go to id</span>
        <input
          placeholder="Go to id"
          autocomplete="off"
          value={typed}
          onInput={({ currentTarget }) => {
            const isValid = currentTarget.value === '' || parseId(currentTarget.value) !== undefined
            currentTarget.setCustomValidity(isValid ? '' : 'Enter a whole number.')
            setTyped(currentTarget.value)
          }}
        />
      </label>
    </form>
  )
}

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { limits } from '../../core/generated/limits.gen.ts'
import { createFilter, type ListQuery, withFilter } from '../list/filter.ts'
import type { Tags } from '../list/use-tags.ts'
import { Icon } from '../text/icon.tsx'
import { FilterChips } from './filter-chips.tsx'

/** How long a person pauses between two words, in milliseconds. */
const TYPING_MS = 250

/** The contract's limit on `q`. */
const SEARCH_LENGTH_MAX = limits.listPlants.q.maxLength

/** Chooses what the table shows. */
export function Toolbar({
  tags,
  query,
  onShow,
  children,
}: {
  readonly tags: Tags
  readonly query: ListQuery
  readonly onShow: (query: ListQuery) => void
  readonly children: ComponentChildren
}) {
  const { filter } = query
  return (
    <search class="toolbar row">
      <SearchField
        q={filter.q ?? ''}
        onSearch={(q) => onShow(withFilter(query, createFilter({ ...filter, q })))}
      />
      <FilterChips
        {...{ tags, query }}
        onFilter={(filter) => onShow(withFilter(query, filter))}
        onUnsort={() => onShow({ filter })}
      />
      <div class="commands row">{children}</div>
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
      <span class="for-screen-readers">Search names, or go to an id</span>
      <Icon name="search" />
      <input
        type="search"
        placeholder="Name or id"
        maxLength={SEARCH_LENGTH_MAX}
        value={typed}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
    </label>
  )
}

import { useEffect, useRef, useState } from 'preact/hooks'
import { lazyDialog } from '../dialog/lazy.tsx'
import { describeCondition } from '../forms/condition-text.ts'
import { conditionsIn, type Filter, type ListQuery, withoutCondition } from '../list/filter.ts'
import type { Tags } from '../list/use-tags.ts'
import { members } from '../model/current-members.ts'
import { memberLabel } from '../text/display-text.ts'
import { Icon } from '../text/icon.tsx'

const ConditionDialog = lazyDialog((parts) => parts.ConditionDialog)

/** A button that adds a condition, and one to remove each condition and the order. */
export function FilterChips({
  tags,
  query: { filter, sort },
  onFilter,
  onUnsort,
}: {
  readonly tags: Tags
  readonly query: ListQuery
  readonly onFilter: (filter: Filter) => void
  readonly onUnsort: () => void
}) {
  const [isOpen, setOpen] = useState(false)
  const addButton = useRef<HTMLButtonElement>(null)
  const close = () => setOpen(false)
  useEffect(() => {
    // Not before the dialog is gone.
    if (isOpen) return () => addButton.current?.focus()
  }, [isOpen])
  const remove = (change: () => void) => {
    change()
    addButton.current?.focus()
  }
  return (
    <>
      <button type="button" ref={addButton} onClick={() => setOpen(true)}>
        <Icon name="filter" /> <span class="label">Filter…</span>
      </button>
      {conditionsIn(filter).map((condition) => (
        <Chip
          key={`${condition.kind}.${condition.name}`}
          text={describeCondition(condition)}
          onRemove={() => remove(() => onFilter(withoutCondition(filter, condition)))}
        />
      ))}
      {sort !== undefined && <Chip text={describeSort(sort)} onRemove={() => remove(onUnsort)} />}
      {isOpen && (
        <ConditionDialog
          {...{ tags, filter }}
          onFilter={(filter) => {
            close()
            onFilter(filter)
          }}
          onClose={close}
        />
      )}
    </>
  )
}

function Chip({ text, onRemove }: { readonly text: string; readonly onRemove: () => void }) {
  return (
    <button type="button" class="chip row" title={`Remove: ${text}`} onClick={onRemove}>
      <bdi class="cut">{text}</bdi> <Icon name="close" />
      <span class="for-screen-readers">(remove)</span>
    </button>
  )
}

function describeSort(sort: string): string {
  const name = sort.replace(/^-/, '')
  const label = memberLabel(members.find((member) => member.name === name) ?? { name })
  return `Sorted by ${label}${sort === name ? '' : ', reversed'}`
}

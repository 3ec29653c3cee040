import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { lazyDialog } from '../dialog/lazy-dialog.tsx'
import { describeCondition } from '../drafts/condition-text.ts'
import { conditionsOf, type FieldFilter, removeCondition } from '../list/field-filter.ts'
import type { Selection } from '../list/filter.ts'
import { members, ownMembers } from '../model/current-members.ts'
import { memberLabel } from '../text/display-text.ts'

const ConditionDialog = lazyDialog(
  async () => (await import('../selection/dialogs.ts')).ConditionDialog,
)

/** A button that adds a condition on an own field and, after the children, one to remove each condition and the order. */
export function Conditions({
  selection: {
    filter: { filter },
    sort,
  },
  onFilter,
  onUnsort,
  children,
}: {
  readonly selection: Selection
  readonly onFilter: (filter: FieldFilter | undefined) => void
  readonly onUnsort: () => void
  readonly children: ComponentChildren
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
      {ownMembers.length > 0 && (
        <button type="button" ref={addButton} onClick={() => setOpen(true)}>
          Filter…
        </button>
      )}
      {children}
      <div class="conditions">
        {conditionsOf(filter).map((condition) => (
          <Chip
            key={`${condition.kind}.${condition.name}`}
            text={describeCondition(condition)}
            onRemove={() => remove(() => onFilter(removeCondition(filter, condition)))}
          />
        ))}
        {sort !== undefined && <Chip text={describeSort(sort)} onRemove={() => remove(onUnsort)} />}
      </div>
      {isOpen && (
        <ConditionDialog
          filter={filter}
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
    <button type="button" class="active" title={`Remove: ${text}`} onClick={onRemove}>
      <bdi>{text}</bdi> <span aria-hidden="true">×</span>
      <span class="for-screen-readers">(remove)</span>
    </button>
  )
}

function describeSort(sort: string): string {
  const name = sort.replace(/^-/, '')
  const label = memberLabel(members.find((member) => member.name === name) ?? { name })
  return `Sorted by ${label}${sort === name ? '' : ', reversed'}`
}
